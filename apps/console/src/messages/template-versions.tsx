import type { Schemas } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Select } from '../ui/form.tsx';
import { useList } from '../ui/list.ts';
import { Failure } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { PublishVersion } from './publish-version.tsx';
import { TemplateDiff } from './template-diff.tsx';
import type { Template } from './template.ts';
import { useTemplateDiff, useTemplatesChanged } from './use-templates.ts';

const templateRoute = getRouteApi('/o/$organization/messages/templates/$template');

type Version = Schemas['TemplateVersionDto'];

/** The newest ones; an older one is compared from an address that names it. */
const MOST_OFFERED = 100;

interface TemplateVersionsProps {
  template: Template;
  etag: string | undefined;
  /** The newest content is another now. */
  onReverted: (now: Reading<Template>) => void;
}

/** What the template said before: what changed, which version is sent, and the way back. */
export function TemplateVersions({ template, etag, onReverted }: TemplateVersionsProps): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const { id } = template;
  const list = useList<Version>(
    // Another version, or another that is sent: the list is another.
    ['messages', 'templates', 'versions', id, template.version, template.published_version],
    async (cursor, signal) => {
      const query = { limit: 20, ...(cursor === undefined ? {} : { cursor }) };
      return (
        await api.GET('/v1/messaging/templates/{id}/versions', { params: { path: { id }, query }, signal })
      ).data;
    },
  );
  if (list.error !== null && list.items.length === 0)
    return <Failure error={list.error} again={list.again} />;
  if (list.loading) return <div aria-busy className="bones h-32" />;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <ol className="flex flex-col divide-y divide-line border-y border-line">
        {list.items.map((version) => (
          <VersionRow key={version.version} {...{ template, etag, version, onReverted }} />
        ))}
      </ol>
      {list.hasMore && (
        <div>
          <Button busy={list.loadingMore} onClick={list.more}>
            {t('olderVersions')}
          </Button>
        </div>
      )}
      {template.version > 1 && <Compared template={template} />}
    </div>
  );
}

function VersionRow({
  template,
  etag,
  version: { version, published, default_locale: locale, created_at: at },
  onReverted,
}: TemplateVersionsProps & { version: Version }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const [asked, setAsked] = useState(false);
  const [publishing, setPublishing] = useState(false);
  const revert = useRevert(template, etag, onReverted);
  const writes = may('messaging.templates.update') && template.deleted_at === null;
  return (
    <li className="flex min-w-0 flex-col gap-2 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="font-medium">{t('templateVersion', { version })}</span>
        {published && <Badge tone="good">{t('isSent', { kind: template.kind })}</Badge>}
        {version === template.version && <Badge>{t('newest')}</Badge>}
        <Time at={at} />
        <span className="text-soft">{locale}</span>
        <span className="ml-auto flex flex-wrap gap-2">
          {writes && !published && (
            <Button
              aria-label={t('sendThis', { kind: template.kind, version })}
              onClick={() => setPublishing(true)}
            >
              {t('sendVersion', { kind: template.kind })}
            </Button>
          )}
          {writes && version !== template.version && (
            <Button
              busy={revert.isPending}
              aria-label={t('revertTo', { version })}
              onClick={() => setAsked(true)}
            >
              {t('revert')}
            </Button>
          )}
        </span>
      </div>
      {revert.error !== null && <Failure error={revert.error} />}
      <PublishVersion
        template={template}
        etag={etag}
        version={version}
        open={publishing}
        onClose={() => setPublishing(false)}
      />
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        title={t('revertTo', { version })}
        action={t('revert')}
        onConfirm={() => {
          setAsked(false);
          revert.mutate(version);
        }}
      >
        {t('revertLead', { version, next: template.version + 1 })}
      </Confirm>
    </li>
  );
}

function useRevert(
  { id }: Template,
  etag: string | undefined,
  onReverted: TemplateVersionsProps['onReverted'],
) {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  const params = { path: { id } };
  const options = etag === undefined ? {} : { ifMatch: etag };
  const changed = useTemplatesChanged();
  return useMutation({
    mutationFn: async (version: number) => {
      const body = { revert_to: version, publish: false };
      return api.PATCH('/v1/messaging/templates/{id}', { params, body, ...options });
    },
    onSuccess: async (now) => {
      await changed();
      onReverted(now);
      say(t('reverted', { version: now.data.version }));
    },
    onError: changed,
  });
}

/** Two versions beside each other, as the address names them. */
function Compared({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const navigate = templateRoute.useNavigate();
  const search = templateRoute.useSearch();
  const newest = template.version;
  const from = within(search.from, newest) ?? newest - 1;
  const to = within(search.to, newest) ?? newest;
  const { data, error, refetch } = useTemplateDiff(template.id, { from, to });
  const latest = Array.from({ length: Math.min(newest, MOST_OFFERED) }, (_, at) => newest - at);
  const versions = [...new Set([...latest, from, to])].sort((one, other) => other - one);
  const options = versions.map((version) => ({
    value: String(version),
    label: t('templateVersion', { version }),
  }));
  const show = (both: { from: number; to: number }): void => void navigate({ search: both, replace: true });
  return (
    <section className="flex min-w-0 flex-col gap-3" aria-label={t('compared')}>
      <h3 className="font-medium">{t('compared')}</h3>
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label={t('before')}
          value={String(from)}
          options={options}
          onChange={({ target }) => show({ from: Number(target.value), to })}
        />
        <Select
          label={t('after')}
          value={String(to)}
          options={options}
          onChange={({ target }) => show({ from, to: Number(target.value) })}
        />
      </div>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-24" />}
      {data !== undefined && <TemplateDiff changes={data.changes} />}
    </section>
  );
}

function within(version: number | undefined, newest: number): number | undefined {
  return version !== undefined && version >= 1 && version <= newest ? version : undefined;
}
