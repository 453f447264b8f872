import { Injectable } from '@nestjs/common';
import {
  holdInTurn,
  keepInTurn,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import type { RoutableEvent } from '../../vocabulary/events/routed-event.js';
import type { RuleContent } from './rule.js';

/** The enabled rules of one organization, found by what happened. */
class RuleBook {
  private readonly byEvent = new Map<string, RuleContent[]>();

  constructor(
    readonly version: string,
    rules: readonly RuleContent[],
  ) {
    for (const rule of rules) {
      const place = keyOf(rule.eventType, rule.eventName);
      this.byEvent.set(place, [...(this.byEvent.get(place) ?? []), rule]);
    }
  }

  /** The rules that an event of this type and name may lead to, conditions not yet asked. */
  candidates(type: RoutableEvent, name: string | null): readonly RuleContent[] {
    return this.byEvent.get(keyOf(type, name)) ?? [];
  }
}

interface RuleRow {
  organization_id: string;
  id: string;
  event_type: RoutableEvent;
  event_name: string | null;
  condition: RuleContent['condition'];
  channel: RuleContent['channel'];
  template_id: string;
  recipient: RuleContent['recipient'];
  category: RuleContent['category'];
  topic: string | null;
  delay_seconds: number;
}

const SELECT = `
  SELECT organization_id, id, event_type, event_name, condition, channel, template_id, recipient, category, topic,
         delay_seconds
    FROM event_routing
   WHERE organization_id = ANY($1::uuid[]) AND enabled AND deleted_at IS NULL
   ORDER BY id`;

const RULED = `
  SELECT organization_id FROM organizations WHERE organization_id = ANY($1::uuid[]) AND routing_version > 0`;

const VERSIONS = `
  SELECT organization_id, routing_version FROM organizations WHERE organization_id = ANY($1::uuid[])`;

const rulesOf = (organizationId: string): string => `event-routing:${organizationId}`;

/** Waits for the transactions that write sends by the rules as they are, and has others wait for the change. */
export function holdRules(tx: Transaction): Promise<void> {
  return holdInTurn(tx, rulesOf(tx.organizationId));
}

/** Beyond it the books of organizations that were looked at longest ago are forgotten. */
const MOST_BOOKS = 2_000;

/**
 * Rules by organization. Each use asks for the version in the transaction that will write the sends, and locks it
 * against change: what is kept here is therefore never older than the transaction, in whatever process a rule changed.
 */
@Injectable()
export class RuleCache {
  private readonly books = new Map<string, RuleBook>();

  /** Of those organizations that have ever had a rule. */
  async booksOf(tx: WorkerTransaction, organizationIds: readonly string[]): Promise<Map<string, RuleBook>> {
    const ruled = (await tx.prepared<{ organization_id: string }>(RULED, [organizationIds])).map(
      (row) => row.organization_id,
    );
    if (ruled.length === 0) return new Map();
    await keepInTurn(tx, ruled.map(rulesOf));
    const versions = await tx.prepared<{ organization_id: string; routing_version: string }>(VERSIONS, [
      ruled,
    ]);
    const stale = versions.filter(
      (row) => this.books.get(row.organization_id)?.version !== row.routing_version,
    );
    if (stale.length > 0) await this.load(tx, stale);
    return new Map(
      versions.flatMap(({ organization_id: id }) => {
        const book = this.books.get(id);
        return book ? [[id, book] as const] : [];
      }),
    );
  }

  private async load(
    tx: WorkerTransaction,
    versions: readonly { organization_id: string; routing_version: string }[],
  ): Promise<void> {
    const rows = await tx.query<RuleRow>(SELECT, [versions.map((row) => row.organization_id)]);
    const byOrganization = Map.groupBy(rows, (row) => row.organization_id);
    for (const { organization_id: id, routing_version: version } of versions) {
      this.books.delete(id);
      this.books.set(id, new RuleBook(version, (byOrganization.get(id) ?? []).map(toRule)));
    }
    // A map goes through its keys in the order of their setting: the first are the oldest.
    for (const id of this.books.keys()) {
      if (this.books.size <= Math.max(MOST_BOOKS, versions.length)) break;
      this.books.delete(id);
    }
  }
}

function keyOf(type: RoutableEvent, name: string | null): string {
  return `${type}\n${name ?? ''}`;
}

function toRule(row: RuleRow): RuleContent {
  return {
    id: row.id,
    eventType: row.event_type,
    eventName: row.event_name,
    condition: row.condition,
    channel: row.channel,
    templateId: row.template_id,
    recipient: row.recipient,
    category: row.category,
    topic: row.topic,
    delaySeconds: row.delay_seconds,
  };
}
