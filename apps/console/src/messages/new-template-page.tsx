import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { emptyParts, TemplateForm, type TemplateDraft } from './template-form.tsx';

export function NewTemplatePage(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  if (!may('messaging.templates.create')) return <Forbidden permission="messaging.templates.create" />;
  return (
    <Page title={t('newTemplate')}>
      <NewTemplate />
    </Page>
  );
}

function NewTemplate(): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const say = useSay();
  const { organization, locale } = usePerson();
  const [draft, setDraft] = useState<TemplateDraft>({
    name: '',
    channel: 'email',
    default_locale: locale,
    locales: { [locale]: emptyParts('email') },
    strict: true,
    publish: true,
  });
  const create = useMutation({
    mutationFn: async () => (await api.POST('/v1/messaging/templates', { body: draft })).data,
    onSuccess: async ({ id, name }) => {
      await cache.invalidateQueries({ queryKey: [organization.id, 'messages', 'templates'] });
      say(t('templateCreated', { name }));
      const params = { organization: organization.slug, template: id };
      await navigate({ to: '/o/$organization/messages/templates/$template', params });
    },
  });
  return (
    <TemplateForm
      isNew
      draft={draft}
      onChange={setDraft}
      onSave={() => create.mutate()}
      busy={create.isPending}
      error={create.error}
      action={t('createTemplate')}
    />
  );
}
