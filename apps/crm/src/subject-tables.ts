import type { SubjectTable } from '@customer-platform/database';

const OF_CONTACT = 'own.contact_id = $2';
const BY_CREATION = [
  ['own.created_at', 'timestamptz'],
  ['own.id', 'uuid'],
] as const;

/** Records of these contacts, or of those they were merged with, are on their way. */
export const UNSETTLED_RECORDS = `
  SELECT contact_id FROM contact_record_jobs WHERE organization_id = $1 AND contacts && $2::uuid[] LIMIT 1`;

/** What crm holds of a person: what staff noted, did and listed. Nothing of it is what the person gave. */
export const SUBJECT_TABLES: readonly SubjectTable[] = [
  {
    resource: 'notes',
    from: 'notes AS own',
    columns: ['own.id', 'own.body', 'own.pinned', 'own.created_at', 'own.updated_at', 'own.deleted_at'],
    where: OF_CONTACT,
    order: BY_CREATION,
  },
  {
    resource: 'activities',
    from: `activities AS own
      LEFT JOIN activity_types AS type ON type.organization_id = own.organization_id AND type.id = own.type_id`,
    columns: [
      'own.id',
      'type.name AS type',
      ...['subject', 'description', 'due_at', 'status', 'outcome'].map((name) => `own.${name}`),
      'own."values"',
      ...['completed_at', 'created_at', 'updated_at'].map((name) => `own.${name}`),
    ],
    where: OF_CONTACT,
    order: BY_CREATION,
  },
  {
    resource: 'lists',
    from: `list_members AS own
      JOIN lists AS list ON list.organization_id = own.organization_id AND list.id = own.list_id`,
    columns: ['own.list_id', 'list.name AS list', 'own.added_at'],
    where: OF_CONTACT,
    order: [
      ['own.list_id', 'uuid'],
      ['own.origin_contact_id', 'uuid'],
    ],
  },
  {
    resource: 'objects',
    from: `object_references AS own
      JOIN object_records AS record ON record.organization_id = own.organization_id AND record.id = own.record_id
      JOIN object_definitions AS definition
        ON definition.organization_id = own.organization_id AND definition.id = own.definition_id`,
    columns: [
      'record.id',
      'definition.slug AS object',
      'record."values"',
      ...['created_at', 'updated_at', 'deleted_at'].map((name) => `record.${name}`),
    ],
    // A record that refers to the contact in several fields is given once.
    where: `${OF_CONTACT} AND NOT EXISTS (
      SELECT FROM object_references AS earlier
       WHERE earlier.organization_id = own.organization_id AND earlier.record_id = own.record_id
         AND earlier.contact_id = own.contact_id AND earlier.field < own.field)`,
    order: [['own.record_id', 'uuid']],
  },
];
