import { COUNTED, NOBODY, type TenantTables } from '@customer-platform/testing';
import { columnsOf } from './vocabulary/contacts/contact-columns.js';
import { FIELD_NAMES } from './vocabulary/contacts/contact-field-table.js';
import { SEGMENT_TABLES } from './segments/segment-tables.fixture.js';

/** What becomes of the columns of core's tables: on an erasure, in an archive, in the course of time. */
export const CORE_TENANT_TABLES: TenantTables = {
  ...SEGMENT_TABLES,
  attribute_conversions: {
    technical: {
      'attributes/conversion/conversions.ts: work under way':
        'definition_id initial on_failure phase cursor_id total processed converted cleared correlation_id started_at moved_at',
    },
    organization: 'goes with attribute_definitions',
    archive: NOBODY,
    removed: 'by attributes/conversion/conversion-end.ts',
  },
  attribute_definitions: {
    kept: {
      'attributes/attribute-definition.dto.ts: what staff declared':
        'key label type enum max_length min max member_visible next',
    },
    technical: {
      'attributes/attribute-definition.dto.ts: the row and its times': 'id created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  audit_chains: {
    technical: {
      'audit-log/audit-log.repository.ts: where the chain ends and how it was verified':
        'head_seq head_hash status broken_at_seq verified_at verified_seq signed_seq sign_at verify_at walked_seq',
    },
    organization: 'follows from audit_log',
    archive: NOBODY,
    removed: 'stays: one of an organization',
  },
  audit_checkpoints: {
    kept: {
      'audit-log/audit-log.repository.ts: signs what the chain was': 'seq hash kid signature created_at',
    },
    organization: 'follows from audit_log',
    archive: NOBODY,
    removed: 'stays: the chain is kept',
  },
  audit_log: {
    kept: {
      'audit-log/audit-item.ts: what staff did, chained by hashes: a row that changes breaks the chain':
        'seq id occurred_at actor_type actor_id impersonator_id action module resource_type resource_id outcome changed_fields correlation_id ip user_agent reason created_at prev_hash hash',
    },
    organization: 'outlives the organization',
    archive: 'it says what staff did',
    removed: 'stays: the chain is kept',
  },
  consent_events: {
    erased: 'evidence',
    kept: {
      'people/consents/consents.repository.ts: proves what the person allowed; the contact has no name any more':
        'id contact_id purpose channel status notice_version notice_hash method legal_basis jurisdiction pii_categories recipients storage_locations retention withdrawal_method expires_at occurred_at controller actor_type actor_id impersonator_id correlation_id recorded_at',
    },
    organization: COUNTED,
    archive: {
      as: 'consents',
      withheld: {
        'whose row it is, which the question says': 'contact_id',
        'who of staff wrote it': 'actor_type actor_id impersonator_id',
        'of the request, not of the person': 'correlation_id',
      },
    },
    removed: 'stays: a consent is provable for good',
  },
  consent_expirations: {
    erased: 'event_id contact_id expires_at',
    organization: 'follows from consent_events',
    archive: 'follows from consents',
    removed: 'by people/consents/consent-expiry.ts',
  },
  contact_activity: {
    erased: 'contact_id last_seen_at',
    organization: 'goes with contacts',
    archive: { as: 'contacts', withheld: {} },
    removed: 'stays: one a contact',
  },
  contact_erasures: {
    kept: {
      'subject-requests/erasure/erasure-runner.ts: what the erasure seeks, until its end empties it':
        'contact_ids identifiers cursor',
      'subject-requests/erasure/erasure-start.ts: which request was carried out for which contact, and how much went':
        'contact_id counts step',
    },
    technical: {
      'subject-requests/erasure/erasure-runner.ts: how far it has come':
        'subject_request_id correlation_id round cursor_id fence asked_at moved_at created_at',
    },
    organization: 'follows from subject_requests',
    archive: 'follows from subject_requests',
    removed: 'stays: proves the erasure',
  },
  contact_merges: {
    erased: 'reason changes outcome',
    kept: {
      'people/merges/merges.repository.ts: that there was a merge, so that its undo is refused as what it is':
        'survivor_id merged_id status',
    },
    technical: {
      'people/merges/merges.repository.ts: the order of merges': 'id place seen_before merged_at undone_at',
    },
    organization: 'goes with contacts',
    archive: { as: 'merges', withheld: { 'what an undo needs': 'place changes outcome seen_before' } },
    removed: 'stays: goes with contacts',
  },
  contact_words: {
    erased: 'contact_id word',
    organization: 'goes with contacts',
    archive: 'follows from contacts',
    removed: 'stays: triggers on contacts keep them',
  },
  contacts: {
    erased: `${columnsOf(FIELD_NAMES)
      .map(({ column }) => column)
      .join(
        ' ',
      )} attributes field_times national_id_type national_id_index national_id_sealed national_id_masked`,
    kept: {
      'people/contacts/contacts-page.ts: by which way it came and what it was merged into':
        'source merged_into',
    },
    technical: {
      'people/contacts/contacts-page.ts: the row and its times':
        'id version created_at updated_at deleted_at erased_at',
      'members/member-contacts.ts: the row and its times': 'members_from',
    },
    organization: COUNTED,
    archive: {
      as: 'contacts',
      withheld: {
        'follows from email': 'email_normal',
        'which value is newer': 'field_times version',
        'the national id is given in full': 'national_id_index national_id_masked',
        'of what erases and signs in': 'erased_at members_from',
      },
    },
    removed: 'stays: until staff purges it',
  },
  dead_letters: {
    erased: 'payload external_id contact_id remainder',
    kept: {
      "dead-letters/dead-letter.dto.ts: why an event failed, in the platform's own words":
        'type stage code detail state closed_reason',
    },
    technical: {
      'unread: left by a release before': 'replay_correlation_id',
      'dead-letters/stored-event-letters.ts: the event, its tries and its times':
        'id event_id attempts fingerprint received_at first_failed_at last_failed_at updated_at',
      'dead-letters/dead-letter.dto.ts: when it was written': 'created_at',
    },
    organization: COUNTED,
    archive: {
      as: 'dead_letters',
      withheld: {
        'whose row it is, which the question says': 'contact_id',
        'the tries':
          'attempts closed_reason fingerprint first_failed_at last_failed_at replay_correlation_id created_at updated_at',
        'follows from payload': 'remainder',
      },
    },
    removed: 'stays: its payload goes by retention/retained-letters.ts',
  },
  erased_identifiers: {
    kept: {
      'blocklist/erased-identifiers.ts: keyed hashes, by which nobody who was erased comes back':
        'hash subject_request_id created_at',
    },
    organization: 'follows from subject_requests',
    archive: 'it is of those who were erased',
    removed: 'by blocklist/erased-identifiers.ts',
  },
  event_streams: {
    technical: { 'events/live/stream-slots.ts: places of live readers': 'id seen_at' },
    organization: 'ends within ten seconds',
    archive: NOBODY,
    removed: 'by events/live/stream-slots.ts',
  },
  events: {
    erased:
      'id type event external_id contact_id idempotency_key occurred_at received_at payload identities warnings source fingerprint created_at origin_id',
    organization: COUNTED,
    archive: {
      as: 'events',
      withheld: {
        'whose row it is, which the question says': 'contact_id origin_id',
        'by what a repeat is known': 'idempotency_key fingerprint',
        'what the platform found': 'warnings',
        'follows from received_at': 'created_at',
      },
    },
    removed: 'by retention/retained-events.ts',
  },
  identities: {
    erased:
      'id contact_id type value normal_value verified source first_seen_at last_seen_at created_at updated_at yielded_at origin_id',
    organization: 'goes with contacts',
    archive: {
      as: 'identities',
      withheld: {
        'whose row it is, which the question says': 'contact_id origin_id',
        'follows from value': 'normal_value',
        'whether another has it now': 'yielded_at',
        'follows from last_seen_at': 'updated_at',
      },
    },
    removed: 'stays: goes with contacts',
  },
  identity_claimants: {
    erased: 'type normal_value contact_id',
    organization: 'goes with contacts',
    archive: 'follows from identities',
    removed: 'by people/suggestions/withdrawn-values.ts',
  },
  import_errors: {
    erased: 'column_name value subjects',
    kept: { 'imports/imports.service.ts: which row could not be imported and why': 'line code detail' },
    technical: { 'imports/imports.service.ts: its place in the file': 'import_id place' },
    organization: 'follows from imports',
    archive: 'a row that was refused is of no contact',
    removed: 'by imports/imports.module.ts',
  },
  imports: {
    kept: {
      'imports/import.row.ts: what staff brought in: its columns, how it was read and what came of it':
        'state options columns number_forms file_bytes file_rows file_sha256 created_rows updated_rows unchanged_rows skipped_rows failed_rows errors failure_code actor_type actor_id impersonator_id',
    },
    technical: {
      'imports/running/import-runner.ts: how far it has come':
        'id file_key position line correlation_id moved_at started_at ended_at created_at updated_at',
      'imports/waiting-imports.ts: whose disk it takes up': 'tenant_id',
    },
    organization: COUNTED,
    archive: 'the contacts that came of it are given',
    removed: 'stays: says where contacts came from',
  },
  member_assertions: {
    technical: {
      'members/tenant-assertions.ts: hashes of tokens, so that none counts twice': 'jti_hash expires_at',
    },
    organization: 'lasts minutes',
    archive: NOBODY,
    removed: 'by members/tenant-assertions.ts',
  },
  merge_suggestions: {
    erased: 'id first_id second_id state reasons score created_at updated_at',
    organization: 'goes with contacts',
    archive: 'what the platform supposes',
    removed: 'stays: goes with contacts',
  },
  rate_limit_buckets: {
    technical: {
      'ingestion/rate-limits/postgres-limit-store.ts: how fast it may send':
        'id per_second capacity owed wanted granted balance filled_at',
    },
    organization: 'lasts minutes',
    archive: NOBODY,
    removed: 'by ingestion/rate-limits/postgres-limit-store.ts',
  },
  removed_events: {
    kept: {
      'retention/retained-events.ts: by what a repeat is known; of erased events the fingerprint is none':
        'id fingerprint',
    },
    organization: 'what retention and erasures left of events',
    archive: NOBODY,
    removed: 'stays: a repeat is known for ever',
  },
  subject_archive_pieces: {
    erased: 'subject_request_id part seq module resource row_count sealed',
    organization: 'goes with subject_archives',
    archive: 'it is the archive',
    removed: 'by subject-requests/archive/archive-writer.ts',
  },
  subject_archives: {
    erased:
      'subject_request_id contact_ids portable locale correlation_id step module after pieces key_sealed claim claimed_until moved_at created_at expires_at national_ids_of tenant_id',
    organization: 'follows from subject_requests',
    archive: 'it is the archive',
    removed: 'by subject-requests/subject-requests.module.ts',
  },
  subject_request_receipts: {
    kept: {
      'subject-requests/erasure/receipts.ts: signs what a module erased; names nobody':
        'subject_request_id module state counts signature received_at',
    },
    organization: 'goes with subject_requests',
    archive: 'it is of those who were erased',
    removed: 'stays: a proof',
  },
  subject_requests: {
    erased: 'verification_reference rejection_detail note corrections outcome',
    kept: {
      'subject-requests/subject-request.row.ts: which request it was, when and by which right it was answered':
        'type state contact_id jurisdiction received_at due_at verification_method verified_at extended_at extension_reason rejection_ground completed_at residual_until locale purposes',
    },
    technical: {
      'subject-requests/subject-request.row.ts: the archive and the warnings':
        'id correlation_id created_at updated_at result_sha256 result_bytes result_expires_at',
      'subject-requests/due-warnings.ts: the archive and the warnings': 'warned_days',
    },
    organization: COUNTED,
    archive: {
      as: 'subject_requests',
      withheld: {
        'whose row it is, which the question says': 'contact_id',
        "staff's own notes": 'note verification_reference corrections',
        'the work of it':
          'warned_days extended_at correlation_id residual_until created_at updated_at locale result_sha256 result_bytes result_expires_at',
      },
    },
    removed: 'stays: a request is provable for good',
  },
  taxonomy_installations: {
    kept: {
      'taxonomies/taxonomies.service.ts: what staff installed':
        'slug version mode overrides created_at updated_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: one a taxonomy',
  },
  usage_acceptances: {
    kept: { 'usage/acceptance-counter.ts: figures by day': 'day partition counted' },
    organization: 'follows from events',
    archive: NOBODY,
    removed: 'stays: usage is billed by it',
  },
  usage_days: {
    kept: {
      'usage/usage.service.ts: figures by day':
        'day partition consumed stored duplicates dead_lettered erased contacts_created contacts_deleted contacts_merged contacts_erased',
    },
    organization: 'follows from events',
    archive: NOBODY,
    removed: 'stays: usage is billed by it',
  },
  usage_refusals: {
    kept: { 'ingestion/refusals.ts: figures by day': 'day refused' },
    organization: 'follows from events',
    archive: NOBODY,
    removed: 'stays: usage is billed by it',
  },
};
