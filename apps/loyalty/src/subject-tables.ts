import type { SubjectTable } from '@customer-platform/database';

const OF_CONTACT = 'subject.contact_id = $2';
const SUBJECT = `
  JOIN subjects AS subject
    ON subject.organization_id = own.organization_id AND subject.subject_ref = own.subject_ref`;

/** What loyalty holds of a person: the points of their subjects. Nothing of it is what the person gave. */
export const SUBJECT_TABLES: readonly SubjectTable[] = [
  {
    resource: 'transactions',
    from: `links AS own ${SUBJECT}
      JOIN transactions AS entry
        ON entry.organization_id = own.organization_id AND entry.id = own.transaction_id`,
    columns: [
      ...['id', 'kind', 'points', 'rule_id', 'rule_version', 'reverses_id'].map((name) => `entry.${name}`),
      ...['event_id', 'occurred_at', 'reference', 'reason'].map((name) => `own.${name}`),
      ...['expires_at', 'created_at'].map((name) => `entry.${name}`),
    ],
    where: OF_CONTACT,
    order: [['own.transaction_id', 'uuid']],
  },
  {
    resource: 'lots',
    from: `lot_balances AS own ${SUBJECT}`,
    columns: ['own.lot_id', 'own.remaining', 'own.expires_at', 'own.created_at'],
    where: OF_CONTACT,
    order: [
      ['own.subject_ref', 'uuid'],
      ['own.lot_id', 'uuid'],
    ],
  },
  {
    resource: 'balances',
    from: `balances AS own ${SUBJECT}`,
    columns: ['own.points'],
    where: OF_CONTACT,
    order: [['own.subject_ref', 'uuid']],
  },
];
