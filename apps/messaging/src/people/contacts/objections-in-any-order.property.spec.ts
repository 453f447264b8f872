import type { ContactsMerged } from '@customer-platform/contact-refs';
import { newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { behindLock, domainEvent, draws } from '@customer-platform/testing';
import fc from 'fast-check';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { ContactProjection } from './contact-projection.js';

/** Contacts of one history. */
const CONTACTS = 5;

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

/**
 * An act: somebody declines, merges are heard of, by one process each, at once, or the one above is heard of while what
 * follows from a merge is not committed yet.
 */
type Step =
  | { readonly kind: 'overtake'; readonly merge: number }
  | { readonly kind: 'decline'; readonly contact: number }
  | { readonly kind: 'hear'; readonly merges: readonly number[]; readonly apart: boolean };

interface History {
  /** The contact that each is merged into, by number: one of a higher number, or nobody. */
  readonly into: readonly (number | null)[];
  readonly steps: readonly Step[];
  /** All merges, in the order in which they are heard of at last. */
  readonly rest: readonly number[];
  /** True where those are told again that were heard of before: what was left on the way then comes to the end. */
  readonly isToldAgain: boolean;
}

/** Every merge is heard of at last, in any order, some more than once. */
const histories: fc.Arbitrary<History> = fc
  .tuple(
    ...Array.from({ length: CONTACTS }, (_, contact) =>
      contact === CONTACTS - 1
        ? fc.constant(null)
        : fc.option(fc.integer({ min: contact + 1, max: CONTACTS - 1 }), { freq: 4 }),
    ),
  )
  .chain((into) => {
    const merged = [...into.keys()].filter((contact) => into[contact] !== null);
    const hear = fc.record({
      kind: fc.constant('hear' as const),
      merges: fc.subarray(merged),
      apart: fc.boolean(),
    });
    const decline = fc.record({
      kind: fc.constant('decline' as const),
      contact: fc.nat({ max: CONTACTS - 1 }),
    });
    const overtake = fc
      .constantFrom(...(merged.length > 0 ? merged : [CONTACTS - 1]))
      .map((merge) => ({ kind: 'overtake' as const, merge }));
    return fc.record({
      into: fc.constant(into),
      steps: fc.array(fc.oneof(hear, decline, overtake), { maxLength: 8 }),
      rest: fc.shuffledSubarray(merged, { minLength: merged.length }),
      isToldAgain: fc.boolean(),
    });
  });

/** A history as messaging lives it. */
class Hearing {
  private readonly organizationId = world.organization().id;
  private readonly ids = Array.from({ length: CONTACTS }, () => newId());
  private readonly told: readonly (DomainEvent<ContactsMerged> | null)[];
  private readonly heard = new Set<number>();
  private readonly declined = new Set<number>();

  constructor(private readonly history: History) {
    this.told = history.into.map((survivor, merged) =>
      survivor === null
        ? null
        : domainEvent<ContactsMerged>('core.contact.merged.v1', this.organizationId, {
            merge_id: newId(),
            merged_id: this.ids[merged] ?? '',
            survivor_id: this.ids[survivor] ?? '',
            merged_version: 2,
            survivor_version: 2,
          }),
    );
  }

  async live(): Promise<void> {
    for (const step of this.history.steps) {
      if (step.kind === 'decline') await this.decline(step.contact);
      else if (step.kind === 'overtake') await this.overtake(step.merge);
      else await this.hear(step.merges, step.apart);
    }
    for (const merge of this.history.rest)
      if (this.history.isToldAgain || !this.heard.has(merge)) await this.hear([merge], false);
  }

  /** Whoever holds the survivor's row keeps the first from its commit; what it saw of the chain it has seen by then. */
  private async overtake(merge: number): Promise<void> {
    const survivor = this.history.into[merge] ?? null;
    if (survivor === null) return;
    const above = this.history.into[survivor] === null ? [] : [survivor];
    const isCarried = [...this.declined].some((contact) => this.isBelow(contact, merge));
    if (!isCarried || this.heard.has(merge)) return this.hear([merge, ...above], false);
    const held = `
      INSERT INTO preferences AS p (organization_id, subject, channel, topic, subscribed, updated_at)
      VALUES ($1, 'contact:' || $2::uuid, 'email', 'news', true, '2026-01-01')
      ON CONFLICT (organization_id, subject, channel, topic) DO UPDATE SET updated_at = p.updated_at`;
    await behindLock(
      world.database,
      { sql: held, values: [this.organizationId, this.ids[survivor]] },
      () => this.hear([merge], false),
      () => this.hear(above, false),
    );
  }

  /** Tells whether what one has declined has come to another, or is at it. */
  private isBelow(contact: number, other: number): boolean {
    for (
      let at: number | null = contact;
      at !== null;
      at = this.heard.has(at) ? (this.history.into[at] ?? null) : null
    )
      if (at === other) return true;
    return false;
  }

  /**
   * Whoever is known to be merged says nothing any more: it is asked in the survivor's name. What is left with them, as a
   * former version did, goes on with the next telling.
   */
  private async decline(contact: number): Promise<void> {
    if (this.heard.has(contact) && !this.history.isToldAgain) return;
    this.declined.add(contact);
    await world.database.query(
      `INSERT INTO preferences (organization_id, subject, channel, topic, subscribed, updated_at)
       VALUES ($1, 'contact:' || $2::uuid, 'email', 'news', false, now())
       ON CONFLICT (organization_id, subject, channel, topic) DO UPDATE SET subscribed = false`,
      [this.organizationId, this.ids[contact]],
    );
  }

  private async hear(merges: readonly number[], apart: boolean): Promise<void> {
    const events = merges.flatMap((merge) => this.told[merge] ?? []);
    const projection = world.app.app.get(ContactProjection);
    if (apart) await Promise.all(events.map((event) => projection.merged([event])));
    else await projection.merged(events);
    for (const merge of merges) this.heard.add(merge);
  }

  /** The contacts that have declined, by number. */
  async found(): Promise<number[]> {
    const rows = await world.database.query<{ subject: string }>(
      'SELECT subject FROM preferences WHERE organization_id = $1 AND NOT subscribed',
      [this.organizationId],
    );
    return rows
      .map(({ subject }) => this.ids.findIndex((id) => subject === `contact:${id}`))
      .sort((one, other) => one - other);
  }

  /** Whoever has, and everybody above. */
  expected(): number[] {
    const all = new Set<number>();
    for (const contact of this.declined)
      for (let at: number | null = contact; at !== null; at = this.history.into[at] ?? null) all.add(at);
    return [...all].sort((one, other) => one - other);
  }
}

it('what merged contacts have declined is declined by all above them, in whatever order the merges are heard', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const hearing = new Hearing(history);
      await hearing.live();
      expect(await hearing.found()).toEqual(hearing.expected());
    }),
    draws(60, 1_000),
  );
}, 120_000);
