import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Note } from '../../ui/notices.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { changedFields } from './changed-fields.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { isStale, useChangeEndpoint, type EndpointDraft, type ReadEndpoint } from './use-endpoints.ts';

interface EditEndpointProps {
  /** What one began with. */
  read: ReadEndpoint;
  /** What is there by now. */
  now: ReadEndpoint | undefined;
  onClose: () => void;
}

/** Changes an endpoint; where somebody else has done so meanwhile, says what, and lets one choose. */
export function EditEndpoint({ read, now = read, onClose }: EditEndpointProps): ReactNode {
  const t = useTranslations('developers');
  const say = useSay();
  const [base, setBase] = useState(read);
  const { mutate, isPending, error } = useChangeEndpoint(read.endpoint.id);
  const send = (draft: EndpointDraft, { endpoint, etag }: ReadEndpoint): void => {
    const fields = changedFields(endpoint, draft).map(({ name }) => name);
    const body = Object.fromEntries(fields.map((name) => [name, draft[name]]));
    if (fields.length === 0) return onClose();
    mutate(
      { body, etag },
      {
        onSuccess: () => {
          say(t('hooks.changed', { name: draft.name }));
          onClose();
        },
      },
    );
  };
  return (
    <Dialog open onClose={onClose} place="side" title={t('hooks.editName', { name: read.endpoint.name })}>
      <EndpointForm
        key={base.etag}
        initial={base.endpoint}
        action={t('save')}
        busy={isPending}
        error={error}
        onSend={(draft) => send(draft, base)}
        onCancel={onClose}
      >
        {(draft) =>
          isStale(error) &&
          now.etag !== base.etag && (
            <Meanwhile
              before={base.endpoint}
              after={now.endpoint}
              onMine={() => send(draft, now)}
              onTheirs={() => setBase(now)}
            />
          )
        }
      </EndpointForm>
    </Dialog>
  );
}

interface MeanwhileProps {
  before: EndpointDraft;
  after: EndpointDraft;
  onMine: () => void;
  onTheirs: () => void;
}

function Meanwhile({ before, after, onMine, onTheirs }: MeanwhileProps): ReactNode {
  const t = useTranslations('developers');
  return (
    <Note tone="warn">
      <p className="font-medium">{t('hooks.meanwhile')}</p>
      <ul>
        {changedFields(before, after).map(({ name, before: was, after: is }) => (
          <li key={name}>
            <code className="font-mono text-xs">{name}</code>: <bdi>{was}</bdi> → <bdi>{is}</bdi>
          </li>
        ))}
      </ul>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button onClick={onMine}>{t('hooks.mine')}</Button>
        <Button onClick={onTheirs}>{t('hooks.theirs')}</Button>
      </div>
    </Note>
  );
}
