import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import {
  asQuery,
  CONTACT,
  nameOfRecord,
  openFields,
  type ObjectDefinition,
  type ObjectField,
  type ObjectRecord,
} from '../../objects/object.ts';
import { referringTo } from '../../objects/search-params.ts';
import { useDefinitions } from '../../objects/use-objects.ts';
import { ValueView } from '../../objects/value-view.tsx';
import { useMay, usePerson } from '../../session/use-session.tsx';
import { Empty, Failure, Forbidden } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { useOwnQuery } from '../../ui/queries.ts';

const FROM = '/o/$organization/contacts/$contactId/objects' as const;
const SHOWN = 20;
/** Values of a record beside its name. */
const MOST_VALUES = 3;

/** The records that refer to a contact, by their definitions. */
export function ContactObjectsPage(): ReactNode {
  const t = useTranslations('objects');
  const may = useMay();
  const definitions = useDefinitions();
  if (!may('crm.objects.read')) return <Forbidden permission="crm.objects.read" />;
  if (definitions.error !== null && definitions.data === undefined)
    return <Failure error={definitions.error} again={() => void definitions.refetch()} />;
  if (definitions.data === undefined) return <div aria-busy className="bones h-32" />;
  const referring = definitions.data.flatMap((definition) =>
    openFields(definition)
      .filter(({ type, target }) => type === 'reference' && target === CONTACT)
      .map((field) => ({ definition, field })),
  );
  if (referring.length === 0) return <Empty title={t('noneRefer')}>{t('noneReferLead')}</Empty>;
  return (
    <div className="flex flex-col gap-8">
      {referring.map(({ definition, field }) => (
        <Referring key={`${definition.id} ${field.key}`} definition={definition} field={field} />
      ))}
    </div>
  );
}

interface ReferringProps {
  definition: ObjectDefinition;
  field: ObjectField;
}

function Referring({ definition, field }: ReferringProps): ReactNode {
  const t = useTranslations('objects');
  const { contactId } = useParams({ from: FROM });
  const { organization } = usePerson();
  const ready = field.index_state === 'ready';
  const { data, error, refetch } = useReferring(definition, field, contactId, ready);
  const params = { organization: organization.slug, definition: definition.slug };
  return (
    <Section title={`${definition.name} · ${field.label}`}>
      {!ready && <p className="text-soft">{t(field.indexed ? 'referenceBuilding' : 'referenceUnindexed')}</p>}
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {ready && data === undefined && error === null && <div aria-busy className="bones h-10" />}
      {data !== undefined && data.data.length === 0 && <p className="text-soft">{t('noneHere')}</p>}
      {data !== undefined && data.data.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {data.data.map((record) => (
            <li key={record.id} className="flex flex-wrap gap-x-4 px-3 py-2">
              <Link
                to="/o/$organization/objects/$definition"
                params={params}
                search={{ open: record.id }}
                className="text-accent underline"
              >
                <bdi>{nameOfRecord(definition, record)}</bdi>
              </Link>
              <Values definition={definition} record={record} except={field.key} />
            </li>
          ))}
        </ul>
      )}
      {data?.page.next_cursor != null && (
        <Link
          to="/o/$organization/objects/$definition"
          params={params}
          search={referringTo(field.key, contactId)}
          className="text-accent underline"
        >
          {t('allOfThem')}
        </Link>
      )}
    </Section>
  );
}

function Values({
  definition,
  record,
  except,
}: {
  definition: ObjectDefinition;
  record: ObjectRecord;
  except: string;
}): ReactNode {
  const name = nameOfRecord(definition, record);
  const fields = openFields(definition).filter(
    ({ key }) => key !== except && record.values[key] != null && record.values[key] !== name,
  );
  return fields.slice(0, MOST_VALUES).map((field) => (
    <span key={field.key} className="text-soft">
      {field.label}: <ValueView field={field} value={record.values[field.key]} />
    </span>
  ));
}

function useReferring(
  definition: ObjectDefinition,
  { key }: ObjectField,
  contactId: string,
  enabled: boolean,
) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['objects', 'referring', definition.id, key, contactId],
    enabled,
    queryFn: async ({ signal }) => {
      const query = asQuery({ limit: SHOWN, ...referringTo(key, contactId) });
      return (
        await api.GET('/v1/crm/objects/{slug}', { params: { path: { slug: definition.id }, query }, signal })
      ).data;
    },
  });
}
