import { randomUUID } from 'node:crypto';
import { revertMigrations, runMigrations } from '@customer-platform/database';
import {
  eventually,
  type KafkaProbe,
  kafkaProbe,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { aLoyaltyWorld, aRecordedEvent, startLoyalty } from '../loyalty.fixture.js';
import { CreateTombstoneRows1768410000000 } from './1768410000000-create-tombstone-rows.js';
import { migrations } from './index.js';

const FROM_HERE = migrations.length - migrations.indexOf(CreateTombstoneRows1768410000000);

let app: TestApp;
let database: TestDatabase;
let probe: KafkaProbe;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
// At its end the list is held against the ledger, for all organizations.
afterAll(() => close());

it('lists what was erased before, of all organizations, and again changes nothing', async () => {
  const rows = () => database.query('SELECT * FROM tombstone_rows ORDER BY organization_id, transaction_id');
  for (let at = 0; at < 2; at += 1) {
    const { organizationId, record } = aLoyaltyWorld(app, probe);
    const [erased, other] = [aRecordedEvent(), aRecordedEvent()];
    await record(erased, other);
    const contact_ids = [erased.contact_id];
    const data = { subject_request_id: randomUUID(), contact_id: erased.contact_id, contact_ids };
    await probe.publish({ type: 'core.erasure.requested.v1', organizationId, data });
    await eventually(async () => expect(await rows()).toHaveLength(at + 1));
  }
  const before = await rows();
  const options = { module: 'loyalty', migrations, url: database.ownerUrl };
  await revertMigrations(options, FROM_HERE);
  await runMigrations(options);
  expect(await rows()).toEqual(before);
  await database.query(`DELETE FROM migrations WHERE name LIKE 'FillTombstoneRows%'`);
  await runMigrations(options);
  expect(await rows()).toEqual(before);
});
