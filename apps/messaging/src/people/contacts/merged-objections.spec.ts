import type { ContactsMerged } from '@customer-platform/contact-refs';
import { newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { behindLock, domainEvent } from '@customer-platform/testing';
import { locksOf } from '../../vocabulary/addresses/address-keys.js';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { ContactProjection } from './contact-projection.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

const OBJECT = `
  INSERT INTO preferences (organization_id, subject, channel, topic, subscribed, updated_at)
  VALUES ($1, 'contact:' || $2::uuid, 'email', 'news', false, $3)`;

/** Contacts of one organization of which some have objected, and the merges that are told of them. */
class Chain {
  readonly organizationId = world.organization().id;

  async objecting(since = new Date()): Promise<string> {
    const id = newId();
    await this.object(id, since);
    return id;
  }

  async object(id: string, since: Date): Promise<void> {
    await world.database.query(OBJECT, [this.organizationId, id, since]);
  }

  mergedInto(survivorId: string, mergedId: string): DomainEvent<ContactsMerged> {
    return domainEvent<ContactsMerged>('core.contact.merged.v1', this.organizationId, {
      merge_id: newId(),
      merged_id: mergedId,
      survivor_id: survivorId,
      merged_version: 2,
      survivor_version: 2,
    });
  }

  hear(...events: DomainEvent<ContactsMerged>[]): Promise<void> {
    return world.app.app.get(ContactProjection).merged(events);
  }

  async hasObjected(id: string): Promise<boolean> {
    const rows = await world.database.query(
      `SELECT 1 FROM preferences
        WHERE organization_id = $1 AND subject = 'contact:' || $2::uuid AND topic = 'news' AND NOT subscribed`,
      [this.organizationId, id],
    );
    return rows.length > 0;
  }
}

describe('what contacts have declined that merge one into another', () => {
  it('goes to the end of the chain, whichever merge is heard first', async () => {
    const chain = new Chain();
    const [x, y, z] = [await chain.objecting(), newId(), newId()];
    await chain.hear(chain.mergedInto(z, y));
    expect(await chain.hasObjected(z)).toBe(false);
    await chain.hear(chain.mergedInto(y, x));
    expect([await chain.hasObjected(y), await chain.hasObjected(z)]).toEqual([true, true]);
  });

  it('goes there though two processes hear of them at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const chain = new Chain();
      const [w, x, y, z] = [await chain.objecting(), await chain.objecting(), newId(), newId()];
      const told = [chain.mergedInto(x, w), chain.mergedInto(y, x), chain.mergedInto(z, y)];
      await Promise.all(told.map((event) => chain.hear(event)));
      expect([await chain.hasObjected(y), await chain.hasObjected(z)]).toEqual([true, true]);
    }
  });

  it('comes there with a merge that is delivered again, where a former version left it on the way', async () => {
    const chain = new Chain();
    const [x, y, z] = [newId(), newId(), newId()];
    const told = [chain.mergedInto(z, y), chain.mergedInto(y, x)];
    await chain.hear(...told);
    await chain.object(x, new Date());
    await chain.hear(chain.mergedInto(z, y));
    expect(await chain.hasObjected(z)).toBe(true);
  });

  it('does not come back, once it was taken back, with a merge that is told again; what was said later does', async () => {
    const chain = new Chain();
    const [x, y] = [await chain.objecting(new Date('2026-01-02')), newId()];
    const told = chain.mergedInto(y, x);
    await chain.hear(told);
    expect(await chain.hasObjected(y)).toBe(true);
    const takeBack = `DELETE FROM preferences WHERE organization_id = $1 AND subject = 'contact:' || $2::uuid`;
    await world.database.query(takeBack, [chain.organizationId, y]);
    await chain.hear(told);
    expect(await chain.hasObjected(y)).toBe(false);
    await world.database.query(takeBack, [chain.organizationId, x]);
    await chain.object(x, new Date(Date.parse(told.time) + 1_000));
    await chain.hear(told);
    expect(await chain.hasObjected(y)).toBe(true);
  });

  it.each(['merged', 'survivor', 'above'] as const)(
    'is carried behind what is said at that moment of the %s contact',
    async (whose) => {
      const chain = new Chain();
      const ids = { merged: newId(), survivor: newId(), above: newId() };
      await chain.hear(chain.mergedInto(ids.above, ids.survivor));
      await behindLock(
        world.database,
        { sql: 'SELECT pg_advisory_xact_lock($1)', values: locksOf([`contact:${ids[whose]}`]) },
        () => chain.hear(chain.mergedInto(ids.survivor, ids.merged)),
        (holder) => holder.query(OBJECT, [chain.organizationId, ids.merged, new Date()]),
      );
      expect([await chain.hasObjected(ids.survivor), await chain.hasObjected(ids.above)]).toEqual([
        true,
        true,
      ]);
    },
  );
});
