import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { RotateCcw, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { useSay } from '../ui/toasts.tsx';
import { PublishVersion } from './publish-version.tsx';
import { isPublished, type Template } from './template.ts';
import { useTemplatesChanged } from './use-templates.ts';

interface TemplateActionsProps {
  template: Template;
  etag: string | undefined;
}

/** What one can do with a whole template. */
export function TemplateActions({ template, etag }: TemplateActionsProps): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { remove, restore } = useActs(template);
  const deleted = template.deleted_at !== null;
  const error = remove.error ?? restore.error;
  return (
    <>
      {!deleted && !isPublished(template) && may('messaging.templates.update') && (
        <PublishDraft template={template} etag={etag} />
      )}
      {!deleted && may('messaging.templates.delete') && (
        <Button busy={remove.isPending} onClick={() => remove.mutate()}>
          <Trash2 aria-hidden className="size-4" />
          {t('delete')}
        </Button>
      )}
      {deleted && may('messaging.templates.delete') && (
        <Button busy={restore.isPending} onClick={() => restore.mutate()}>
          <RotateCcw aria-hidden className="size-4" />
          {t('restore')}
        </Button>
      )}
      {deleted && may('messaging.templates.purge') && <Purge template={template} />}
      {error !== null && <Failure error={error} />}
    </>
  );
}

function useActs({ id, name }: Template) {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  const params = { path: { id } };
  const changed = useTemplatesChanged();
  const restore = useMutation({
    mutationFn: () => api.POST('/v1/messaging/templates/{id}/restore', { params }),
    onSuccess: async () => {
      await changed();
      say(t('templateRestored', { name }));
    },
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE('/v1/messaging/templates/{id}', { params }),
    onSuccess: async () => {
      await changed();
      say(t('templateDeleted', { name }), () => restore.mutateAsync());
    },
  });
  const purge = useMutation({
    mutationFn: () => api.DELETE('/v1/messaging/templates/{id}/purge', { params }),
    onSuccess: () => say(t('templatePurged', { name })),
  });
  return { remove, restore, purge };
}

/** Publishes the newest version, which is a draft. */
function PublishDraft({ template, etag }: TemplateActionsProps): ReactNode {
  const t = useTranslations('messages');
  const [open, setOpen] = useState(false);
  const { version } = template;
  return (
    <>
      <Button look="main" onClick={() => setOpen(true)}>
        {t('publishVersion', { version })}
      </Button>
      <PublishVersion
        template={template}
        etag={etag}
        version={version}
        open={open}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

function Purge({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const navigate = useNavigate();
  const { organization } = usePerson();
  const [open, setOpen] = useState(false);
  const { purge } = useActs(template);
  const gone = (): void => {
    const params = { organization: organization.slug };
    void navigate({ to: '/o/$organization/messages/templates', params });
  };
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        {t('purge')}
      </Button>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={t('purgeTitle', { name: template.name })}
        action={t('purge')}
        danger
        busy={purge.isPending}
        error={purge.error}
        onConfirm={() => purge.mutate(undefined, { onSuccess: gone })}
      >
        {t('purgeLead')}
      </Confirm>
    </>
  );
}
