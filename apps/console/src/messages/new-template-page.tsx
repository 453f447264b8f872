import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useKeptDraft } from '../ui/kept-drafts.tsx';
import { Failure, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { MessageTabs } from './message-tabs.tsx';
import { newTemplate, type TemplateDraft } from './template.ts';
import { TemplateForm } from './template-form.tsx';
import { useTemplatesChanged } from './use-templates.ts';

const newTemplateRoute = getRouteApi('/o/$organization/messages/templates/new');

export function NewTemplatePage(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  if (!may('messaging.templates.create')) return <Forbidden permission="messaging.templates.create" />;
  return (
    <Page title={t('newTemplate')}>
      <MessageTabs />
      <NewTemplate />
    </Page>
  );
}

function NewTemplate(): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const changed = useTemplatesChanged();
  const navigate = useNavigate();
  const say = useSay();
  const { organization, locale } = usePerson();
  const { kind = 'message', channel = 'email' } = newTemplateRoute.useSearch();
  const { found, keep, forget, formOf } = useKeptDraft<TemplateDraft>(`templates/new/${kind}/${channel}`);
  const begin = (): TemplateDraft => newTemplate(kind, channel, locale);
  const [draft, setDraft] = useState(() => found ?? begin());
  const create = useMutation({
    mutationFn: async () =>
      (await api.POST('/v1/messaging/templates', { body: { ...draft, publish: false } })).data,
    onSuccess: async ({ id, name }) => {
      forget();
      await changed();
      say(t('templateCreated', { name }));
      const params = { organization: organization.slug, template: id };
      await navigate({ to: '/o/$organization/messages/templates/$template', params });
    },
  });
  return (
    <TemplateForm
      draft={draft}
      onChange={(next) => {
        keep(next);
        setDraft(next);
      }}
      kept={formOf(() => setDraft(begin()))}
      onSave={() => create.mutate()}
      busy={create.isPending}
      error={create.error}
      action={t('createTemplate')}
    >
      {create.error !== null && <Failure error={create.error} />}
    </TemplateForm>
  );
}
