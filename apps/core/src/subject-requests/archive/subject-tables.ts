import type { SubjectTable } from '@customer-platform/database';
import { FIELD_NAMES } from '../../vocabulary/contacts/contact-field-table.js';

const OF_CONTACT = 'own.contact_id = $2';
const BY_ID = [['own.id', 'uuid']] as const;
const own = (...names: readonly string[]): string[] => names.map((name) => `own.${name}`);

/** The resource whose rows hold a sealed national id. */
export const CONTACTS = 'contacts';

/** What is given of a letter; its payload byte by byte as it came: it need not be a text that JSON takes. */
export const LETTER_COLUMNS = `own.id, own.event_id, own.type, own.stage, own.code, own.detail, own.external_id, own.state,
  own.received_at, encode(own.payload, 'base64') AS payload_base64`;

/** Letters are sought by what they say, which no column tells (`ArchivedLetters`): here `$2` are their own ids. */
export const LETTERS: SubjectTable = {
  resource: 'dead_letters',
  from: 'dead_letters AS own',
  columns: [LETTER_COLUMNS],
  where: 'own.id = ANY($2::uuid[])',
  order: BY_ID,
};

/** What core holds of a person beside their dead letters. The audit log is not among it: it says what staff did. */
export const SUBJECT_TABLES: readonly SubjectTable[] = [
  {
    resource: CONTACTS,
    portable: true,
    from: 'contacts AS own',
    columns: [
      ...own(
        'id',
        ...FIELD_NAMES,
        'attributes',
        'national_id_type',
        'national_id_sealed',
        'source',
        'merged_into',
      ),
      ...own('created_at', 'updated_at', 'deleted_at'),
      `(SELECT seen.last_seen_at FROM contact_activity AS seen
         WHERE seen.organization_id = own.organization_id AND seen.contact_id = own.id) AS last_seen_at`,
    ],
    where: 'own.id = $2',
    order: BY_ID,
  },
  {
    resource: 'identities',
    portable: true,
    from: 'identities AS own',
    columns: own('id', 'type', 'value', 'verified', 'source', 'first_seen_at', 'last_seen_at', 'created_at'),
    where: OF_CONTACT,
    order: BY_ID,
  },
  {
    resource: 'consents',
    portable: true,
    from: 'consent_events AS own',
    columns: [
      ...own('id', 'purpose', 'channel', 'status', 'notice_version', 'notice_hash', 'method', 'legal_basis'),
      ...own('jurisdiction', 'evidence', 'pii_categories', 'recipients', 'storage_locations', 'retention'),
      ...own('withdrawal_method', 'expires_at', 'occurred_at', 'controller', 'recorded_at'),
    ],
    where: OF_CONTACT,
    order: [['own.occurred_at', 'timestamptz'], ...BY_ID],
  },
  {
    resource: 'events',
    portable: true,
    from: 'events AS own',
    columns: own(
      'id',
      'type',
      'event',
      'external_id',
      'occurred_at',
      'received_at',
      'payload',
      'identities',
      'source',
    ),
    where: OF_CONTACT,
    order: [['own.occurred_at', 'timestamptz'], ...BY_ID],
  },
  {
    resource: 'segments',
    from: `segment_members AS own
      JOIN segments AS segment ON segment.organization_id = own.organization_id AND segment.id = own.segment_id`,
    columns: [
      'own.segment_id',
      'segment.name AS segment',
      ...own('entered_at', 'cause', 'left_at', 'left_cause'),
    ],
    where: OF_CONTACT,
    order: BY_ID,
  },
  {
    resource: 'merges',
    from: 'contact_merges AS own',
    columns: own('id', 'survivor_id', 'merged_id', 'status', 'reason', 'merged_at', 'undone_at'),
    where: 'own.merged_id = $2',
    order: BY_ID,
  },
  {
    resource: 'subject_requests',
    from: 'subject_requests AS own',
    columns: [
      ...own(
        'id',
        'type',
        'state',
        'jurisdiction',
        'received_at',
        'due_at',
        'verification_method',
        'verified_at',
      ),
      ...own(
        'purposes',
        'extension_reason',
        'rejection_ground',
        'rejection_detail',
        'outcome',
        'completed_at',
      ),
    ],
    where: OF_CONTACT,
    order: BY_ID,
  },
];
