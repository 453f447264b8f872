import { NOBODY, type TenantTables } from './tenant-table.js';

/** The tables of tenants that the platform's libraries make alike in several modules. */
export const SHARED_TENANT_TABLES: TenantTables = {
  audit_entries: {
    kept: {
      'libs/audit/src/audit.ts: what staff did; goes to the audit log, which a chain of hashes keeps whole':
        'id occurred_at actor_type actor_id impersonator_id action resource_type resource_id outcome changed_fields reason correlation_id ip user_agent',
    },
    organization: 'is in core once it has been relayed',
    archive: 'it says what staff did',
    removed: 'stays: the act is provable in its own module',
  },
  erasure_receipts: {
    kept: {
      'libs/erasure/src/erasures.ts: that an erasure was done; names nobody':
        'subject_request_id counts receipt completed_at',
    },
    organization: 'follows from requests of core',
    archive: NOBODY,
    removed: 'stays: a proof is shown again for the same request',
  },
  idempotency_keys: {
    erased: 'route key_hash fingerprint claim_id lease_until status headers body created_at expires_at',
    organization: 'kept for a day',
    archive: 'the answer repeats what stands in other tables',
    removed: 'by libs/database/src/idempotency/answer.store.ts',
  },
  inbox: {
    technical: {
      'libs/event-bus/src/inbox/inbox.ts: which event has had its effect': 'consumer event_id claimed_at',
    },
    organization: 'follows from events of other modules',
    archive: NOBODY,
    removed: 'by libs/event-bus/src/inbox/inbox.ts',
  },
  outbox: {
    kept: { 'libs/event-bus/src/outbox/outbox.ts: what is told within seconds, then gone': 'messages' },
    technical: {
      'libs/event-bus/src/outbox/outbox.ts: places in the queue': 'id shard topic',
      'libs/event-bus/src/outbox/outbox.age.ts: places in the queue': 'created_at',
    },
    organization: 'on its way',
    archive: 'on its way',
    removed: 'by libs/event-bus/src/outbox/outbox.relay.ts',
  },
  parked_events: {
    erased: 'id consumer topic key event_id event_type correlation_id payload proof error attempts parked_at',
    organization: 'follows from events of other modules',
    archive: 'the event stands where it came from',
    removed: 'by libs/event-bus/src/parking/parked-events.ts',
  },
  reference_holds: {
    technical: {
      'libs/database/src/references/reference-holds.ts: holds new references back for ten seconds':
        'hold_id resource referenced_id held_until',
    },
    organization: 'lasts ten seconds',
    archive: NOBODY,
    removed: 'by libs/database/src/references/reference-holds.ts',
  },
  retention_periods: {
    technical: {
      'libs/database/src/retention/retention-periods.ts: for how long things are kept':
        'kind wanted_days wanted_since days',
      'libs/database/src/retention/retention-kinds.ts: for how long things are kept': 'removed removed_until',
    },
    organization: 'follows from settings of identity',
    archive: NOBODY,
    removed: 'stays: one a kind',
  },
  tenant_tallies: {
    technical: {
      'libs/database/src/tallies/tenant-tallies.ts: how often a tenant has done what is bounded':
        'name began_at count',
    },
    organization: 'of an hour at most',
    archive: NOBODY,
    removed: 'by libs/database/src/tallies/tenant-tallies.ts',
  },
};
