import { ProblemError } from '@customer-platform/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Conflict } from '../ui/conflict.tsx';
import { Failure, Forbidden, Note } from '../ui/notices.tsx';
import { Page, Section } from '../ui/page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { templateRoute } from './routes.ts';
import { TemplateActions } from './template-actions.tsx';
import { TemplateForm, type TemplateDraft } from './template-form.tsx';
import { TemplateVersions } from './template-versions.tsx';
import { TemplatePreview } from './template-preview.tsx';
import { Published, type Template } from './templates-page.tsx';

/** One template: its texts, how it looks, and which version is sent. */
export function TemplatePage(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const api = useApi();
  const { organization } = usePerson();
  const { template: id } = templateRoute.useParams();
  // What is written in the form is of a content that is not the newest any more.
  const [reverted, setReverted] = useState(0);
  const allowed = may('messaging.templates.read');
  const { data, error, refetch } = useQuery({
    queryKey: [organization.id, 'messages', 'templates', 'one', id],
    enabled: allowed,
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      const read = await api.GET('/v1/messaging/templates/{id}', { params, signal });
      return { template: read.data, etag: read.etag };
    },
  });
  if (!allowed) return <Forbidden permission="messaging.templates.read" />;
  if (data === undefined)
    return (
      <Page title={t('template')}>
        {error === null ? (
          <div aria-busy className="bones h-64" />
        ) : (
          <Failure error={error} again={() => void refetch()} />
        )}
      </Page>
    );
  const { template, etag } = data;
  return (
    <Page
      title={template.name}
      lead={<Published template={template} />}
      actions={<TemplateActions template={template} etag={etag} />}
    >
      {template.deleted_at !== null && <Note tone="warn">{t('templateDeletedLead')}</Note>}
      <div className="grid items-start gap-8 xl:grid-cols-2">
        {template.deleted_at === null && may('messaging.templates.update') && (
          <Section title={t('content')}>
            <EditTemplate key={`${template.id} ${reverted}`} read={template} etag={etag} />
          </Section>
        )}
        {template.deleted_at === null && (
          <Section title={t('preview')} lead={t('previewLead')}>
            <TemplatePreview template={template} />
          </Section>
        )}
      </div>
      <Section title={t('versions')} lead={t('versionsLead')}>
        <TemplateVersions
          template={template}
          etag={etag}
          onReverted={() => setReverted((count) => count + 1)}
        />
      </Section>
    </Page>
  );
}

const draftFrom = ({ name, channel, default_locale, locales, strict }: Template): TemplateDraft => ({
  name,
  channel,
  default_locale,
  locales,
  strict,
  publish: true,
});

function EditTemplate({ read, etag }: { read: Template; etag: string | undefined }): ReactNode {
  const t = useTranslations('messages');
  // What the change is based on stays what was first read, until one takes over what is stored.
  const [base, setBase] = useState(etag);
  const [draft, setDraft] = useState(() => draftFrom(read));
  const save = useSave(read.id, draft, setBase);
  const meanwhile = save.error instanceof ProblemError && save.error.code === 'etag_mismatch';
  return (
    <TemplateForm
      isNew={false}
      draft={draft}
      onChange={setDraft}
      onSave={() => save.mutate(base)}
      busy={save.isPending}
      error={meanwhile ? null : save.error}
      action={t('saveTemplate')}
    >
      {meanwhile ? (
        <Conflict
          fields={differences(read, draft).map(({ name, ...both }) => ({ name: t(name), ...both }))}
          busy={save.isPending}
          onTheirs={() => {
            setBase(etag);
            setDraft(draftFrom(read));
            save.reset();
          }}
          onMine={() => save.mutate(etag)}
        />
      ) : undefined}
    </TemplateForm>
  );
}

function useSave(id: string, draft: TemplateDraft, setBase: (etag: string | undefined) => void) {
  const t = useTranslations('messages');
  const api = useApi();
  const cache = useQueryClient();
  const say = useSay();
  const { organization } = usePerson();
  const changed = (): Promise<void> =>
    cache.invalidateQueries({ queryKey: [organization.id, 'messages', 'templates'] });
  return useMutation({
    mutationFn: async (ifMatch: string | undefined) => {
      const { channel: _, ...body } = draft;
      const options = ifMatch === undefined ? {} : { ifMatch };
      return api.PATCH('/v1/messaging/templates/{id}', { params: { path: { id } }, body, ...options });
    },
    onError: async (error) => {
      // What it is by now is read, to be shown beside what was written here.
      if (error instanceof ProblemError && error.code === 'etag_mismatch') await changed();
    },
    onSuccess: async ({ data, etag }) => {
      setBase(etag);
      await changed();
      say(t('templateSaved', { name: data.name, version: data.version }));
    },
  });
}

/** Where what is stored and what is written here differ. */
function differences(
  read: Template,
  draft: TemplateDraft,
): { name: 'name' | 'defaultLocale' | 'content'; theirs: string; mine: string }[] {
  const written = (value: unknown): string => JSON.stringify(value, null, 2);
  const pairs = [
    { name: 'name' as const, theirs: read.name, mine: draft.name },
    { name: 'defaultLocale' as const, theirs: read.default_locale, mine: draft.default_locale },
    { name: 'content' as const, theirs: written(read.locales), mine: written(draft.locales) },
  ];
  return pairs.filter(({ theirs, mine }) => theirs !== mine);
}
