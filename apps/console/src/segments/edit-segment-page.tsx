import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Conflict } from '../ui/conflict.tsx';
import { useKeptDraft } from '../ui/kept-drafts.tsx';
import { Failure, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { useReadAnew } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';
import { countedKeys, toBuilder, toRule, type NewKey, type WrittenRule } from './rule.ts';
import { SegmentForm, type SegmentDraft } from './segment-form.tsx';
import { useSegment, type Segment } from './use-segment.ts';

const editSegmentRoute = getRouteApi('/o/$organization/segments/$segment/edit');

export function EditSegmentPage(): ReactNode {
  const t = useTranslations('segments');
  const may = useMay();
  const { segment: id } = editSegmentRoute.useParams();
  const { data, error, refetch } = useSegment(id);
  if (!may('core.segments.update')) return <Forbidden permission="core.segments.update" />;
  return (
    <Page title={data ? t('editing', { name: data.segment.name }) : t('edit')} lead={t('editLead')}>
      {data !== undefined ? (
        <EditSegment key={id} read={data.segment} etag={data.etag} />
      ) : error !== null ? (
        <Failure error={error} again={() => void refetch()} />
      ) : (
        <div aria-busy className="bones h-64" />
      )}
    </Page>
  );
}

/** A text that is kept: the draft, the tag of what it changes, and the next key of its nodes, which no two share. */
interface KeptSegment {
  draft: SegmentDraft;
  base: string | undefined;
  newKey: NewKey;
}

function EditSegment({ read, etag }: { read: Segment; etag: string | undefined }): ReactNode {
  const t = useTranslations('segments');
  const { found, keep, forget, formOf } = useKeptDraft<KeptSegment>(`segments/${read.id}`);
  const [newKey] = useState(() => found?.newKey ?? countedKeys());
  const draftFrom = ({ name, description, rule }: Segment): SegmentDraft => ({
    name,
    description: description ?? '',
    root: toBuilder(rule, newKey),
  });
  // What the change is based on stays what was first read, however often it is asked again behind.
  const [base, setBase] = useState(found === undefined ? etag : found.base);
  const [draft, setDraft] = useState(() => found?.draft ?? draftFrom(read));
  const save = useSave(read.id, draft, forget);
  const takeStored = (): void => {
    forget();
    setBase(etag);
    setDraft(draftFrom(read));
    save.reset();
  };
  const changedMeanwhile = save.error instanceof ProblemError && save.error.code === 'etag_mismatch';
  return (
    <SegmentForm
      draft={draft}
      onChange={(next) => {
        keep({ draft: next, base, newKey });
        setDraft(next);
      }}
      kept={formOf(takeStored)}
      newKey={newKey}
      onSave={() => save.mutate(base)}
      busy={save.isPending}
      error={changedMeanwhile ? null : save.error}
      action={t('save')}
    >
      {changedMeanwhile ? (
        <Conflict
          fields={differences(read, draft).map(({ name, ...both }) => ({ name: t(name), ...both }))}
          busy={save.isPending}
          onTheirs={takeStored}
          onMine={() => save.mutate(etag)}
        />
      ) : undefined}
    </SegmentForm>
  );
}

function useSave(id: string, { name, description, root }: SegmentDraft, onSaved: () => void) {
  const t = useTranslations('segments');
  const api = useApi();
  const changed = useReadAnew('segments');
  const navigate = useNavigate();
  const say = useSay();
  const { organization } = usePerson();
  return useMutation({
    mutationFn: async (ifMatch: string | undefined) => {
      const rule = toRule(root) as WrittenRule;
      const body = { name: name.trim(), description: description === '' ? null : description, rule };
      const options = ifMatch === undefined ? {} : { ifMatch };
      return (await api.PATCH('/v1/core/segments/{id}', { params: { path: { id } }, body, ...options })).data;
    },
    onError: async (error) => {
      // What it is by now is read, to be shown beside what was written here.
      if (error instanceof ProblemError && error.code === 'etag_mismatch') await changed();
    },
    onSuccess: async (segment) => {
      onSaved();
      await changed();
      say(t('saved', { name: segment.name }));
      const params = { organization: organization.slug, segment: id };
      await navigate({ to: '/o/$organization/segments/$segment', params });
    },
  });
}

/** Where what is stored and what is written here differ. */
function differences(
  segment: Segment,
  draft: SegmentDraft,
): { name: 'name' | 'description' | 'rule'; theirs: string; mine: string }[] {
  const pairs = [
    { name: 'name' as const, theirs: segment.name, mine: draft.name },
    { name: 'description' as const, theirs: segment.description ?? '', mine: draft.description },
    {
      name: 'rule' as const,
      theirs: JSON.stringify(segment.rule, null, 2),
      mine: JSON.stringify(toRule(draft.root), null, 2),
    },
  ];
  return pairs.filter(({ theirs, mine }) => theirs !== mine);
}
