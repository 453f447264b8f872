import { randomUUID } from 'node:crypto';
import { revertMigrations, runMigrations } from '@customer-platform/database';
import { type KafkaProbe, kafkaProbe, type TestApp, type TestDatabase } from '@customer-platform/testing';
import { aLoyaltyWorld, aRecordedEvent, startLoyalty } from '../loyalty.fixture.js';
import { CountEarnedPoints1768100000000 } from './1768100000000-count-earned-points.js';
import { migrations } from './index.js';

const FROM_HERE = migrations.length - migrations.indexOf(CountEarnedPoints1768100000000);

let app: TestApp;
let database: TestDatabase;
let probe: KafkaProbe;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
// At its end what the sums are is held against the ledger, for all organizations.
afterAll(() => close());

async function givePoints(rules: number, contacts: number): Promise<void> {
  const world = aLoyaltyWorld(app, probe);
  for (let at = 1; at <= rules; at += 1) await world.rule({ formula: { type: 'fixed', points: at } });
  await world.record(...Array.from({ length: contacts }, () => aRecordedEvent({ contact_id: randomUUID() })));
  const [first] = await world.transactions('kind=earn&limit=1');
  await world.post({ kind: 'reverse', reverses_id: first?.id, reason: 'returned' });
}

it('counts what was posted before, of all organizations and in several pieces, and again changes nothing', async () => {
  await givePoints(1, 3);
  await givePoints(25, 24);
  const sums = () =>
    database.query('SELECT * FROM earned_points ORDER BY organization_id, rule_id, subject_ref');
  const before = await sums();
  const options = { module: 'loyalty', migrations, url: database.ownerUrl };
  await revertMigrations(options, FROM_HERE);
  await runMigrations(options);
  expect(await sums()).toEqual(before);
  await database.query(`DELETE FROM migrations WHERE name LIKE 'FillEarnedPoints%'`);
  await runMigrations(options);
  expect(await sums()).toEqual(before);
});
