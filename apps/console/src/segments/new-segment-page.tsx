import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useKeptDraft } from '../ui/kept-drafts.tsx';
import { Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { useReadAnew } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';
import { countedKeys, toRule, type NewKey, type WrittenRule } from './rule.ts';
import { SegmentForm, type SegmentDraft } from './segment-form.tsx';

export function NewSegmentPage(): ReactNode {
  const t = useTranslations('segments');
  const may = useMay();
  if (!may('core.segments.create')) return <Forbidden permission="core.segments.create" />;
  return (
    <Page title={t('new')} lead={t('newLead')}>
      <NewSegment />
    </Page>
  );
}

/** A text that is kept: the draft, and the next key of its nodes, which no two share. */
interface KeptSegment {
  draft: SegmentDraft;
  newKey: NewKey;
}

function NewSegment(): ReactNode {
  const t = useTranslations('segments');
  const api = useApi();
  const changed = useReadAnew('segments');
  const navigate = useNavigate();
  const say = useSay();
  const { organization } = usePerson();
  const { found, keep, forget, formOf } = useKeptDraft<KeptSegment>('segments/new');
  const [newKey] = useState(() => found?.newKey ?? countedKeys());
  const begin = (): SegmentDraft => ({
    name: '',
    description: '',
    root: { key: newKey(), kind: 'all', nodes: [] },
  });
  const [draft, setDraft] = useState(() => found?.draft ?? begin());
  const create = useMutation({
    mutationFn: async () => {
      const { name, description, root } = draft;
      const rule = toRule(root) as WrittenRule;
      const body = { name: name.trim(), description: description === '' ? null : description, rule };
      return (await api.POST('/v1/core/segments', { body })).data;
    },
    onSuccess: async ({ id, name }) => {
      forget();
      await changed();
      say(t('created', { name }));
      const params = { organization: organization.slug, segment: id };
      await navigate({ to: '/o/$organization/segments/$segment', params });
    },
  });
  return (
    <SegmentForm
      draft={draft}
      onChange={(next) => {
        keep({ draft: next, newKey });
        setDraft(next);
      }}
      kept={formOf(() => setDraft(begin()))}
      newKey={newKey}
      onSave={() => create.mutate()}
      busy={create.isPending}
      error={create.error}
      action={t('create')}
    />
  );
}
