import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { aBus, aDatabase, anIsolatedKafka, inOrganization } from '../../test/a-bus.js';
import { Inbox } from './inbox.js';

const organizationId = randomUUID();
let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;
beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([]);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe('Inbox.claim', () => {
  it('tells apart consumers, and ids claimed in one call twice', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const inbox = app.get(Inbox);
    await inOrganization(app, organizationId, async (tx) => {
      expect(await inbox.claim(tx, 'a', [first, second, first])).toEqual(new Set([first, second]));
      expect(await inbox.claim(tx, 'a', [first])).toEqual(new Set());
      expect(await inbox.claim(tx, 'b', [first])).toEqual(new Set([first]));
      expect(await inbox.claim(tx, 'b', [])).toEqual(new Set());
    });
  });

  it('tells apart organizations whose events share an id, in one statement for all', async () => {
    const [mine, theirs] = [organizationId, randomUUID()];
    const [first, second] = [randomUUID(), randomUUID()];
    const inbox = app.get(Inbox);
    await inOrganization(app, mine, (tx) => inbox.claim(tx, 'across', [first]));
    const events = [mine, theirs].flatMap((each) => [
      { organizationId: each, id: first },
      { organizationId: each, id: second },
    ]);
    const claim = (): Promise<typeof events> =>
      app.get(Database).acrossOrganizations((tx) => inbox.claimAcross(tx, 'across', events));
    expect(await claim()).toEqual(events.slice(1));
    expect(await claim()).toEqual([]);
  });

  it('lets one of two transactions at once have an event', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID());
    const inbox = app.get(Inbox);
    const claims = await Promise.all(
      [1, 2, 3, 4].map(() =>
        inOrganization(app, organizationId, (tx) => inbox.claim(tx, 'racing', shuffled(ids))),
      ),
    );
    expect(claims.reduce((sum, claim) => sum + claim.size, 0)).toBe(100);
  });
});

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
