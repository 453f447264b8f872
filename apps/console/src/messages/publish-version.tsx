import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { useSay } from '../ui/toasts.tsx';
import { TemplateDiff } from './template-diff.tsx';
import type { Template } from './template.ts';
import { useTemplateDiff, useTemplatesChanged } from './use-templates.ts';

interface PublishVersionProps {
  template: Template;
  etag: string | undefined;
  version: number;
  open: boolean;
  onClose: () => void;
}

/** Publishes a version, newer or older, once one has seen what that changes. */
export function PublishVersion({ template, etag, version, open, onClose }: PublishVersionProps): ReactNode {
  const t = useTranslations('messages');
  const { id, kind, published_version: published } = template;
  const diff = useTemplateDiff(id, { from: published ?? version, to: version }, open && published !== null);
  const publish = usePublish(template, etag, onClose);
  const seen = published === null || diff.data !== undefined;
  return (
    <Confirm
      open={open}
      onClose={() => {
        publish.reset();
        onClose();
      }}
      title={t('publishTitle', { kind, version })}
      action={t('sendVersion', { kind })}
      busy={publish.isPending || !seen}
      error={publish.error ?? diff.error}
      onConfirm={() => publish.mutate(version)}
    >
      <p>{published === null ? t('publishFirst', { kind }) : t('publishFrom', { kind, published })}</p>
      {published !== null && diff.isLoading && <div aria-busy className="bones mt-3 h-24" />}
      {diff.data !== undefined && (
        <div className="mt-3 flex min-w-0 flex-col gap-3 text-ink">
          <TemplateDiff changes={diff.data.changes} heading="h3" />
        </div>
      )}
      {kind !== 'message' && <p className="mt-3">{t('publishHint')}</p>}
    </Confirm>
  );
}

function usePublish({ id, kind }: Template, etag: string | undefined, onDone: () => void) {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  const changed = useTemplatesChanged();
  return useMutation({
    mutationFn: async (version: number) => {
      const params = { path: { id } };
      const body = { published_version: version };
      const options = etag === undefined ? {} : { ifMatch: etag };
      await api.PATCH('/v1/messaging/templates/{id}', { params, body, ...options });
      return version;
    },
    onSuccess: async (version) => {
      await changed();
      onDone();
      say(t('versionPublished', { kind, version }));
    },
    onError: changed,
  });
}
