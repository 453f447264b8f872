import type { FormEvent, ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { DialogActions } from './dialog.tsx';
import type { KeptForm } from './kept-drafts.tsx';

/** What every form over a draft is given; `children` is what stands in the way, above its buttons. */
export interface DraftFormProps<Draft> extends FormFrameProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
  error: unknown;
}

/** What a part of such a form needs. */
export interface DraftPartProps<Draft> {
  draft: Draft;
  set: (changed: Partial<Draft>) => void;
  error: unknown;
}

/** For the parts of a form. */
export function partOf<Draft extends object>(form: DraftFormProps<Draft>): DraftPartProps<Draft> {
  const { draft, onChange, error } = form;
  return { draft, set: (changed) => onChange({ ...draft, ...changed }), error };
}

interface FormFrameProps {
  onSend: () => void;
  onCancel?: () => void;
  busy: boolean;
  /** What its button does, by its verb. */
  action: string;
  /** Given where what is written outlives the form. */
  kept?: KeptForm;
  children?: ReactNode;
}

/** Fields, and below them the way back and the way on. */
export function FormFrame(props: FormFrameProps): ReactNode {
  const { onSend, onCancel, busy, action, kept, children } = props;
  const t = useTranslations('ui');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSend();
  };
  const cancel = (): void => {
    kept?.forget();
    onCancel?.();
  };
  return (
    <form onSubmit={submit} data-draft={kept?.key} className="flex min-w-0 flex-col gap-6">
      {kept?.note}
      {children}
      <DialogActions>
        {onCancel !== undefined && <Button onClick={cancel}>{t('cancel')}</Button>}
        <Button type="submit" look="main" busy={busy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Fields that belong together. */
export function FormPart({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <fieldset className="flex min-w-0 flex-col gap-4">
      <legend className="mb-2 font-medium">{title}</legend>
      {children}
    </fieldset>
  );
}
