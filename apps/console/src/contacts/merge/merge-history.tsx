import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { ContactName, Names } from '../../people/person.tsx';
import { namesOfContact } from '../../people/use-people.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { useList } from '../../ui/list.ts';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { UndoMerge } from './undo-merge.tsx';
import type { PastMerge } from './use-merge.ts';

/** Lists who was merged into a contact, with the way to part them again; shows nothing where nobody ever was. */
export function MergeHistory({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const api = useApi();
  const [chosen, setChosen] = useState<PastMerge>();
  const list = useList<PastMerge>(['contacts', contactId, 'merges'], async (cursor, signal) => {
    const query = cursor === undefined ? {} : { cursor };
    const params = { path: { id: contactId }, query };
    return (await api.GET('/v1/core/contacts/{id}/merges', { params, signal })).data;
  });
  const columns = useColumns(contactId, setChosen);
  if (!list.loading && list.error == null && list.items.length === 0) return null;
  return (
    <Section title={t('merges.title')} lead={t('merges.lead')}>
      <DataTable
        label={t('merges.title')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={null}
      />
      {chosen !== undefined && <UndoMerge merge={chosen} onClose={() => setChosen(undefined)} />}
    </Section>
  );
}

function useColumns(contactId: string, onUndo: (merge: PastMerge) => void): Column<PastMerge>[] {
  const t = useTranslations('contacts');
  return [
    { id: 'who', header: t('merges.who'), cell: (merge) => <Other merge={merge} contactId={contactId} /> },
    { id: 'at', header: t('merges.at'), cell: ({ merged_at: at }) => <Time at={at} /> },
    { id: 'reason', header: t('merges.reason'), cell: ({ reason }) => <bdi>{reason ?? '–'}</bdi> },
    { id: 'state', header: t('merges.state'), cell: (merge) => <State merge={merge} onUndo={onUndo} /> },
  ];
}

/** Names whom the contact was merged with: of an undone merge, the other of the two. */
function Other({ merge, contactId }: { merge: PastMerge; contactId: string }): ReactNode {
  const { merged_contact: merged, merged_id, survivor_id } = merge;
  if (merged !== null) return <Names names={namesOfContact(merged)} withAddress />;
  return <ContactName id={merged_id === contactId ? survivor_id : merged_id} />;
}

function State({ merge, onUndo }: { merge: PastMerge; onUndo: (merge: PastMerge) => void }): ReactNode {
  const t = useTranslations('contacts');
  if (merge.status === 'undone')
    return (
      <span className="flex items-center gap-2">
        <Badge>{t('merges.undone')}</Badge>
        {merge.undone_at !== null && <Time at={merge.undone_at} relative />}
      </span>
    );
  if (!merge.undoable) return <span className="text-soft">{t('merges.later')}</span>;
  return (
    <Button look="quiet" onClick={() => onUndo(merge)}>
      {t('merges.undo')}
    </Button>
  );
}
