import type { FormEvent, ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { DialogActions } from './dialog.tsx';

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
  children?: ReactNode;
}

/** Fields, and below them the way back and the way on. */
export function FormFrame({ onSend, onCancel, busy, action, children }: FormFrameProps): ReactNode {
  const t = useTranslations('ui');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSend();
  };
  return (
    <form onSubmit={submit} className="flex min-w-0 flex-col gap-6">
      {children}
      <DialogActions>
        {onCancel !== undefined && <Button onClick={onCancel}>{t('cancel')}</Button>}
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
