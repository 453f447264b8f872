import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { isAtFields, problemAt } from '../../ui/problem-at.ts';
import { EventPicker } from './event-picker.tsx';
import { isStale, type EndpointDraft } from './use-endpoints.ts';

const FIELDS = ['/name', '/url', '/events'];

interface EndpointFormProps {
  initial: EndpointDraft;
  /** What the button does. */
  action: string;
  busy: boolean;
  error: unknown;
  onSend: (draft: EndpointDraft) => void;
  onCancel: () => void;
  /** Between the fields and the buttons. */
  children?: (draft: EndpointDraft) => ReactNode;
}

/** Name, address and events of an endpoint. */
export function EndpointForm(props: EndpointFormProps): ReactNode {
  const { initial, action, busy, error, onSend, onCancel, children } = props;
  const t = useTranslations('developers');
  const [draft, setDraft] = useState(initial);
  const change = (change: Partial<EndpointDraft>): void => setDraft({ ...draft, ...change });
  const ready = draft.name.trim() !== '' && draft.url.trim() !== '' && draft.events.length > 0;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(draft);
      }}
    >
      {error !== null && !isStale(error) && !isAtFields(error, FIELDS) && <Failure error={error} />}
      <TextField
        label={t('name')}
        required
        maxLength={120}
        value={draft.name}
        error={problemAt(error, '/name', true)}
        onChange={({ target }) => change({ name: target.value })}
      />
      <TextField
        label={t('hooks.url')}
        hint={t('hooks.urlHint')}
        required
        inputMode="url"
        maxLength={2048}
        value={draft.url}
        error={problemAt(error, '/url', true)}
        onChange={({ target }) => change({ url: target.value })}
      />
      <EventPicker
        chosen={draft.events}
        error={problemAt(error, '/events', true)}
        onChange={(events) => change({ events })}
      />
      {children?.(draft)}
      <DialogActions>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button look="main" type="submit" busy={busy} disabled={!ready}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
