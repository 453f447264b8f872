import { getRouteApi } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { isUnknownRoute, useApi } from '../api/api.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Panel, Section } from '../ui/page.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { countedKeys, toBuilder } from './rule.ts';
import { RuleView } from './rule-view.tsx';
import type { Segment } from './use-segment.ts';

const segmentRoute = getRouteApi('/o/$organization/segments/$segment');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The rule in words; of a contact that is asked for, with what each part of it says. */
export function Explanation({ segment }: { segment: Segment }): ReactNode {
  const t = useTranslations('segments');
  const { contact } = segmentRoute.useSearch();
  const explained = useExplanation(segment, contact);
  const missing = isUnknownRoute(explained.error);
  return (
    <Section title={t('rule')} lead={missing ? undefined : t('whyLead')}>
      {!missing && segment.deleted_at === null && <Ask key={contact} contact={contact ?? ''} />}
      <div id="why" aria-live="polite" className="flex flex-col gap-3">
        {contact !== undefined && !missing && explained.error !== null && (
          <Failure error={explained.error} again={() => void explained.refetch()} />
        )}
        {explained.data === null && <Note tone="warn">{t('noSuchContact')}</Note>}
        {explained.data != null && (
          <p className="flex flex-wrap items-center gap-2">
            <Badge tone={explained.data.member ? 'good' : 'neutral'}>
              {t(explained.data.member ? 'isMember' : 'isNoMember')}
            </Badge>
            <span>{explained.data.name}</span>
          </p>
        )}
        <Panel label={t('rule')}>
          <RuleView
            node={toBuilder(segment.rule, countedKeys())}
            explained={explained.data == null ? undefined : explained.data.rule}
          />
        </Panel>
      </div>
    </Section>
  );
}

function Ask({ contact }: { contact: string }): ReactNode {
  const t = useTranslations('segments');
  const navigate = segmentRoute.useNavigate();
  const [typed, setTyped] = useState(contact);
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    const asked = typed.trim();
    void navigate({
      search: ({ status }) => ({
        ...(status === undefined ? {} : { status }),
        ...(asked === '' ? {} : { contact: asked }),
      }),
      resetScroll: false,
    });
  };
  return (
    <form data-keeps-nothing onSubmit={ask} className="flex flex-wrap items-end gap-2">
      <div className="w-full sm:w-96">
        <TextField
          label={t('whyContact')}
          placeholder={t('whyHint')}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </div>
      <Button type="submit">{t('why')}</Button>
    </form>
  );
}

/** Null where there is no such contact. */
function useExplanation({ id, rule_version: version, deleted_at: deletedAt }: Segment, contact?: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['segments', 'explain', id, version, contact],
    enabled: contact !== undefined && deletedAt === null,
    retry: false,
    queryFn: async ({ signal }) => {
      const typed = contact ?? '';
      let contactId = typed;
      if (!UUID.test(typed)) {
        const by = typed.includes('@') ? { email: typed } : { external_id: typed };
        const query = { ...by, limit: 1 };
        const { data: found } = await api.GET('/v1/core/contacts', { params: { query }, signal });
        const [first] = found.data;
        if (first === undefined) return null;
        contactId = first.id;
      }
      const params = { path: { id }, query: { contact_id: contactId } };
      const { data } = await api.GET('/v1/core/segments/{id}/explain', { params, signal });
      return { name: typed, member: data.member, rule: data.rule };
    },
  });
}
