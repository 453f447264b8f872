import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { useKeptDraft } from '../ui/kept-drafts.tsx';
import { Failure, Forbidden, Note } from '../ui/notices.tsx';
import { Page, Section } from '../ui/page.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import type { Reading } from '../ui/use-edit.tsx';
import { EditTemplate } from './edit-template.tsx';
import { MessageTabs } from './message-tabs.tsx';
import type { Template } from './template.ts';
import { TemplateActions } from './template-actions.tsx';
import { TemplatePreview } from './template-preview.tsx';
import { Published } from './template-state.tsx';
import { TemplateUses } from './template-uses.tsx';
import { TemplateUsedBy } from './template-used-by.tsx';
import { TemplateVersions } from './template-versions.tsx';

const templateRoute = getRouteApi('/o/$organization/messages/templates/$template');

/** One template: its texts, how it looks, what it is made of, and which version is sent. */
export function TemplatePage(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const api = useApi();
  const { template: id } = templateRoute.useParams();
  const allowed = may('messaging.templates.read');
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['messages', 'templates', 'one', id],
    enabled: allowed,
    queryFn: async ({ signal }): Promise<Reading<Template>> =>
      api.GET('/v1/messaging/templates/{id}', { params: { path: { id } }, signal }),
  });
  if (!allowed) return <Forbidden permission="messaging.templates.read" />;
  if (data === undefined)
    return (
      <Page title={t('template')}>
        <MessageTabs />
        {error === null ? (
          <div aria-busy className="bones h-64" />
        ) : (
          <Failure error={error} again={() => void refetch()} />
        )}
      </Page>
    );
  return <Shown key={id} read={data} />;
}

function Shown({ read }: { read: Reading<Template> }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { data: template, etag } = read;
  const { kind } = template;
  // What is written in the form is of a content that is not the newest any more.
  const [reverted, setReverted] = useState<Reading<Template>>();
  const { forget } = useKeptDraft(`templates/${template.id}`);
  const stored = template.deleted_at === null;
  return (
    <Page
      title={template.name}
      lead={
        <span className="inline-flex flex-wrap gap-2">
          {kind !== 'message' && <Badge tone="accent">{t(`kinds.${kind}`)}</Badge>}
          <Published template={template} />
        </span>
      }
      actions={<TemplateActions template={template} etag={etag} />}
    >
      <MessageTabs />
      {!stored && <Note tone="warn">{t('templateDeletedLead')}</Note>}
      <div className="grid items-start gap-8 xl:grid-cols-2">
        {stored && may('messaging.templates.update') && (
          <Section title={t('content')}>
            <EditTemplate key={reverted?.data.version} opened={reverted ?? read} />
          </Section>
        )}
        {stored && (
          <Section title={t('preview')} lead={t(`previewLeads.${kind}`)}>
            <TemplatePreview template={template} />
          </Section>
        )}
      </div>
      {template.uses.length > 0 && <TemplateUses read={read} />}
      {kind !== 'message' && <TemplateUsedBy template={template} />}
      <Section title={t('versions')} lead={t('versionsLead')}>
        <TemplateVersions
          template={template}
          etag={etag}
          onReverted={(now) => (forget(), setReverted(now))}
        />
      </Section>
    </Page>
  );
}
