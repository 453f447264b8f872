import type { TestDatabase } from '@customer-platform/testing';
import type { Facts, Said } from '../vocabulary/rules/evaluate.js';
import type { EventNode } from '../vocabulary/rules/rule.js';
import { passes, valueAt } from '../vocabulary/rules/values.js';

interface StoredContact {
  id: string;
  attributes: Record<string, unknown>;
  merged_into: string | null;
  deleted_at: Date | null;
}

interface StoredTrack {
  contact_id: string;
  event: string;
  payload: Record<string, unknown>;
  occurred_at: Date;
}

interface StoredWord {
  contact_id: string;
  channel: string | null;
  status: string;
  occurred_at: Date;
  expires_at: Date | null;
}

/** All that is stored of an organization's contacts, whoever wrote it: what a full recompute reads. */
export class StoredHistories {
  private constructor(
    private readonly contacts: readonly StoredContact[],
    private readonly tracks: readonly StoredTrack[],
    private readonly words: readonly StoredWord[],
  ) {}

  static async read({ query }: TestDatabase, organizationId: string): Promise<StoredHistories> {
    const of = <Row>(columns: string, table: string) =>
      query<Row>(`SELECT ${columns} FROM ${table} WHERE organization_id = $1`, [organizationId]);
    return new StoredHistories(
      await of('id, attributes, merged_into, deleted_at', 'contacts'),
      await of('contact_id, event, payload, occurred_at', 'events'),
      await of('contact_id, channel, status, occurred_at, expires_at', 'consent_events'),
    );
  }

  /** The contacts that can be in a segment, with what is known of them at an instant. */
  activeAt(now: number): { id: string; facts: Facts }[] {
    return this.contacts
      .filter((contact) => contact.merged_into === null && contact.deleted_at === null)
      .map((contact) => ({ id: contact.id, facts: this.factsOf(contact, now) }));
  }

  private factsOf({ id, attributes }: StoredContact, now: number): Facts {
    const family = this.familyOf(id);
    const said: Said[] = this.words
      .filter((word) => family.has(word.contact_id))
      .map(({ channel, status, occurred_at: at, expires_at: end }) => {
        return { channel, status, occurredAt: at.getTime(), expiresAt: end?.getTime() ?? null };
      });
    return {
      attribute: (path) => valueAt({ attributes }, path),
      said: () => said,
      occurrences: ({ event, where }: EventNode) => {
        const times = this.tracks
          .filter((one) => family.has(one.contact_id) && one.event === event)
          .filter(({ payload, occurred_at: at }) =>
            where.every(({ property, test }) => passes(valueAt(payload, property), test, at.getTime())),
          )
          .map(({ occurred_at: at }) => at.getTime());
        return {
          past: times.filter((at) => at <= now).sort((one, other) => other - one),
          future: times.filter((at) => at > now).sort((one, other) => one - other),
        };
      },
    };
  }

  private familyOf(id: string): Set<string> {
    const merged = this.contacts.filter(({ merged_into: into }) => into === id);
    return new Set([id, ...merged.flatMap((one) => [...this.familyOf(one.id)])]);
  }
}
