import { COUNTED, NOBODY, type TenantTables } from '@customer-platform/testing';

/** What becomes of the columns of loyalty's tables: on an erasure, in an archive, in the course of time. */
export const LOYALTY_TENANT_TABLES: TenantTables = {
  balances: {
    kept: {
      'ledger/entries.ts: figures, by a ref that leads to nobody once subjects has none':
        'subject_ref points',
    },
    organization: 'follows from transactions',
    archive: { as: 'balances', withheld: { 'what joins it to the contact': 'subject_ref' } },
    removed: 'stays: the ledger is kept',
  },
  contact_refs: {
    erased: 'id state merged_into version',
    organization: 'follows from contacts of core',
    archive: 'core gives the contact',
    removed: 'stays: until the contact is erased',
  },
  earned_points: {
    kept: {
      'earning/caps.ts: what a rule gave, by a ref that leads to nobody once subjects has none':
        'rule_id subject_ref points',
    },
    organization: 'follows from transactions',
    archive: 'follows from transactions',
    removed: 'stays: the ledger is kept',
  },
  erased_contacts: {
    kept: {
      'libs/contact-refs/src/contact-statements.ts: a keyed hash, by which nothing is written about them again':
        'contact_hash',
    },
    organization: 'follows from contacts of core',
    archive: NOBODY,
    removed: 'stays: for good',
  },
  lines: {
    kept: {
      'ledger/entries.ts: the ledger keeps its figures without whose they are':
        'transaction_id lot_id points subject_ref',
    },
    organization: 'follows from transactions',
    archive: 'the sums stand in transactions and lots',
    removed: 'stays: the ledger is kept',
  },
  links: {
    erased: 'transaction_id subject_ref event_id correlation_id occurred_at reference reason',
    organization: 'follows from transactions',
    archive: {
      as: 'transactions',
      withheld: {
        'what joins it to the contact': 'subject_ref transaction_id',
        'of the request, not of the person': 'correlation_id',
      },
    },
    removed: 'stays: until the contact is erased',
  },
  lot_balances: {
    kept: {
      'ledger/lots.ts: the ledger keeps its figures without whose they are':
        'subject_ref lot_id remaining expires_at created_at',
    },
    organization: 'follows from transactions',
    archive: { as: 'lots', withheld: { 'what joins it to the contact': 'subject_ref' } },
    removed: 'by ledger/sums-rebuild.ts',
  },
  rule_periods: {
    technical: {
      'earning/rule-book.ts: which version of a rule holds when': 'rule_id effective_from version deleted',
    },
    organization: 'follows from rules',
    archive: NOBODY,
    removed: 'stays: late events are judged by it',
  },
  rule_revisions: {
    technical: { 'earning/rule-book.ts: tells instances that rules have changed': 'revision' },
    organization: 'follows from rules',
    archive: NOBODY,
    removed: 'stays: one of an organization',
  },
  rule_versions: {
    kept: {
      'rules/rule-versions.ts: what staff wrote by which points were given':
        'rule_id version event conditions formula max_per_event max_per_contact valid_from valid_to expires_after_days enabled created_at',
    },
    organization: 'follows from rules',
    archive: NOBODY,
    removed: 'stays: the ledger points to it',
  },
  rules: {
    kept: {
      'rules/rule.dto.ts: what staff wrote by which points are given':
        'name event conditions formula max_per_event max_per_contact valid_from valid_to expires_after_days enabled',
    },
    technical: {
      'rules/rule.dto.ts: the row, its version and its times': 'id version created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  subjects: {
    erased: 'subject_ref contact_id origin_contact_id',
    organization: 'follows from transactions',
    archive: 'what joins the ledger to the contact',
    removed: 'stays: until the contact is erased',
  },
  tombstone_rows: {
    kept: {
      'ledger/ledger-walk.ts: which rows of the ledger are nobody’s': 'created_at transaction_id',
    },
    organization: 'follows from transactions',
    archive: 'it is of nobody',
    removed: 'stays: the ledger is kept',
  },
  tombstones: {
    kept: {
      'ledger/erase-subjects.ts: how much there is without a name':
        'subject_ref erased_at transactions points',
    },
    organization: 'follows from transactions',
    archive: 'it is of nobody',
    removed: 'stays: totals before and after are compared',
  },
  transactions: {
    kept: {
      'ledger/entries.ts: the ledger keeps its figures without whose they are':
        'id kind points subject_ref rule_id rule_version rule_event_hash reverses_id expired_lot_id idempotency_hash request_hash actor_type actor_id expires_at created_at',
    },
    organization: COUNTED,
    archive: {
      as: 'transactions',
      withheld: {
        'what joins it to the contact': 'subject_ref',
        'of the rows beside it': 'expired_lot_id',
        'hashes by which a repeat is known': 'rule_event_hash idempotency_hash request_hash',
        'who of staff': 'actor_type actor_id',
      },
    },
    removed: 'stays: the ledger is kept',
  },
};
