import { newId } from '@customer-platform/database';
import { Redelivery } from '@customer-platform/event-bus';
import type { EventType } from '@customer-platform/events';
import type { WorkScenario } from './background-work.suite.js';
import type { Fault } from './database-fault.js';
import { contactChange, type ProbeEvent } from './domain-event.js';
import { kafkaProbe } from './kafka-probe.js';
import type { TestApp } from './test-app.js';
import type { TestDatabase } from './test-database.js';

/** Each is tried three times alone before it is parked. */
const MANY = 100;
/** How many queues an outbox is. */
const SHARDS = 16;
/** The key of the messages that a scenario leaves: a module may have left others of the same organization. */
const GIVEN = 'given';

/** A module that consumes domain events, on a database of its own. */
export interface ConsumingModule {
  readonly app: TestApp;
  readonly database: TestDatabase;
}

/** What the events of a scenario are, and what they leave. */
export interface ConsumedEvents<T extends EventType> {
  /** An event that has its effect in the organization. */
  event(organizationId: string): Promise<ProbeEvent<T>> | ProbeEvent<T>;
  fault(organizationId: string): Fault;
  /** SQL of how many events of the organization `$1` have had their effect, as `count`. */
  readonly done: string;
}

/** Records of a module's domain events: one that fails for ever is parked, and delivered again once it can be. */
export function consumedEvents<T extends EventType>(
  module: () => ConsumingModule,
  consumed: ConsumedEvents<T>,
): WorkScenario {
  const given = new Map<string, number>();
  const count = async (sql: string, organizationId: string): Promise<number> => {
    const [row] = await module().database.query<{ count: number }>(sql, [organizationId]);
    return row?.count ?? NaN;
  };
  return {
    give: async (organizationId, rows) => {
      const events: ProbeEvent<T>[] = [];
      for (let made = 0; made < rows; made += 1) events.push(await consumed.event(organizationId));
      await kafkaProbe(module().app).publish(...events);
      given.set(organizationId, (given.get(organizationId) ?? 0) + rows);
    },
    fault: (organizationId) => consumed.fault(organizationId),
    left: async (organizationId) =>
      (given.get(organizationId) ?? 0) - (await count(consumed.done, organizationId)),
    told: (organizationId) =>
      count('SELECT count(*)::int FROM parked_events WHERE organization_id = $1', organizationId),
    many: MANY,
    again: async (organizationId) => {
      for await (const { error } of module().app.app.get(Redelivery).run({ organizationId }))
        if (error) throw new Error('An event could not be taken again', { cause: error });
    },
  };
}

/**
 * Rows of a module's outbox, each organization's in another of its shards: within one they are relayed in their order, so
 * that what stands behind a row that fails waits for it.
 */
export function outboxRows(module: () => ConsumingModule, ownTopic: string): WorkScenario {
  const shards = new Map<string, number>();
  const shardOf = (organizationId: string): number => {
    const shard = shards.get(organizationId) ?? shards.size % SHARDS;
    shards.set(organizationId, shard);
    return shard;
  };
  return {
    give: async (organizationId, rows) => {
      await module().database.query(
        `INSERT INTO outbox (organization_id, shard, topic, messages)
         SELECT $1, $2, $3, '[["${GIVEN}", "{}", "spec.unknown.v1"]]'::json FROM generate_series(1, $4::int)`,
        [organizationId, shardOf(organizationId), ownTopic, rows],
      );
    },
    fault: (organizationId) => ({
      table: 'outbox',
      on: 'DELETE',
      when: `OLD.organization_id = '${organizationId}' AND OLD.messages->0->>0 = '${GIVEN}'`,
    }),
    left: async (organizationId) => {
      const rows = await module().database.query(
        'SELECT FROM outbox WHERE organization_id = $1 AND messages->0->>0 = $2',
        [organizationId, GIVEN],
      );
      return rows.length;
    },
  };
}

/** Is {@link consumedEvents} with the contacts that a module follows in a table of its own. */
export function followedContacts(module: () => ConsumingModule, table = 'contact_refs'): WorkScenario {
  return consumedEvents(module, {
    event: (organizationId) => ({
      type: 'core.contact.created.v1',
      organizationId,
      data: contactChange(newId(), 1),
    }),
    fault: (organizationId) => ({
      table,
      on: 'INSERT',
      when: `NEW.organization_id = '${organizationId}'`,
    }),
    done: `SELECT count(*)::int FROM ${table} WHERE organization_id = $1`,
  });
}
