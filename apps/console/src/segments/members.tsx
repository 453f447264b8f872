import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { Badge } from '../ui/badge.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Select } from '../ui/form.tsx';
import { useList } from '../ui/list.ts';
import { Empty } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ContactName } from '../people/person.tsx';
import type { Segment } from './use-segment.ts';

const segmentRoute = getRouteApi('/o/$organization/segments/$segment');

type Member = Schemas['SegmentMemberDto'];

const REFRESHED_MS = 5_000;

/** Who is in the segment, or was, since when and why. */
export function Members({ segment: { id, member_count } }: { segment: Segment }): ReactNode {
  const t = useTranslations('segments');
  const api = useApi();
  const navigate = segmentRoute.useNavigate();
  const { status, contact } = segmentRoute.useSearch();
  const list = useList<Member>(
    // The first who comes in is shown as soon as they are counted.
    ['segments', 'members', id, status, member_count > 0],
    async (cursor, signal) => {
      const query = { status: status ?? 'current', ...(cursor === undefined ? {} : { cursor }) } as const;
      const params = { path: { id }, query };
      return (await api.GET('/v1/core/segments/{id}/members', { params, signal })).data;
    },
    { refetchInterval: REFRESHED_MS },
  );
  const show = (chosen: string): void =>
    void navigate({
      search: { ...(chosen === 'left' ? { status: 'left' } : {}), ...(contact ? { contact } : {}) },
      replace: true,
      resetScroll: false,
    });
  return (
    <Section
      title={t('members')}
      lead={t('membersLead')}
      actions={
        <Select
          label={t('shown')}
          value={status ?? 'current'}
          options={(['current', 'left'] as const).map((value) => ({
            value,
            label: t(`membership.${value}`),
          }))}
          onChange={({ target }) => show(target.value)}
        />
      }
    >
      <DataTable
        label={t('members')}
        list={list}
        columns={useColumns(status === 'left')}
        keyOf={({ contact_id: one, entered_at: at }) => `${one} ${at}`}
        chosen={list.items.find((member) => member.contact_id === contact) && `${contact}`}
        onOpen={({ contact_id: one }) =>
          void navigate({
            search: (before) => ({ ...before, contact: one }),
            resetScroll: false,
            hash: 'why',
          })
        }
        empty={<Empty title={t(status === 'left' ? 'nobodyLeft' : 'nobody')} />}
      />
    </Section>
  );
}

function useColumns(left: boolean): Column<Member>[] {
  const t = useTranslations('segments');
  return [
    {
      id: 'contact',
      header: t('contact'),
      cell: ({ contact_id: id, external_id: externalId }) => <ContactName id={id} externalId={externalId} />,
    },
    { id: 'entered', header: t('enteredAt'), cell: ({ entered_at: at }) => <Time at={at} /> },
    { id: 'cause', header: t('cause'), cell: ({ cause }) => <Badge>{t(`causes.${cause}`)}</Badge> },
    ...(left
      ? [
          {
            id: 'left',
            header: t('leftAt'),
            cell: ({ left_at: at }: Member) => at !== null && <Time at={at} />,
          },
          {
            id: 'leftCause',
            header: t('leftCause'),
            cell: ({ left_cause: cause }: Member) => cause !== null && <Badge>{t(`causes.${cause}`)}</Badge>,
          },
        ]
      : []),
  ];
}
