import { newId, revertMigrations, runMigrations } from '@customer-platform/database';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { ForgetValuesOfUndoneMerges1767146000000 } from './1767146000000-forget-values-of-undone-merges.js';
import { CORE_MIGRATIONS } from './core.migrations.js';

const FROM_HERE = CORE_MIGRATIONS.length - CORE_MIGRATIONS.indexOf(ForgetValuesOfUndoneMerges1767146000000);

const CONTACT = `
  INSERT INTO contacts (organization_id, id, source, external_id)
  SELECT $1, id, 'api', id::text FROM unnest($2::uuid[]) AS id`;
const MERGE = `
  INSERT INTO contact_merges (organization_id, id, survivor_id, merged_id, status, changes, outcome, seen_before, merged_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, now(), now())`;

const CHANGES = [{ field: 'phone', before: { value: null, time: null }, after: { value: 'x', time: null } }];
const OUTCOME = {
  fields: [
    { field: 'phone', survivor: null, merged: 'x', kept: 'merged' },
    { field: 'email', survivor: 'y', merged: null, kept: 'survivor' },
  ],
  consents: [{ purpose: 'marketing', channel: null, survivor: null, merged: 'granted', result: 'granted' }],
  moved: { identities: 1, events: 2, consents: 3 },
  blockers: [],
};
const FORGOTTEN = {
  ...OUTCOME,
  fields: [
    { field: 'phone', kept: 'merged' },
    { field: 'email', kept: 'survivor' },
  ],
  consents: [],
};

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('core', CORE_MIGRATIONS);
});
afterAll(() => database.drop());

describe('the values of merges', () => {
  it('go from those that were undone before, of all organizations, and from those that the release before undoes', async () => {
    const options = { module: 'core', migrations: CORE_MIGRATIONS, url: database.ownerUrl };
    await revertMigrations(options, FROM_HERE);
    const kept: Record<string, unknown> = {};
    for (const organizationId of [newId(), newId()])
      for (const status of ['merged', 'undone']) {
        const [id, survivorId, mergedId] = [newId(), newId(), newId()];
        await database.query(CONTACT, [organizationId, [survivorId, mergedId]]);
        const values = [JSON.stringify(CHANGES), JSON.stringify(OUTCOME)];
        await database.query(MERGE, [organizationId, id, survivorId, mergedId, status, ...values]);
        kept[id] =
          status === 'undone'
            ? { id, changes: [], outcome: FORGOTTEN }
            : { id, changes: CHANGES, outcome: OUTCOME };
      }
    const rows = () => database.query<{ id: string }>('SELECT id, changes, outcome FROM contact_merges');
    await runMigrations(options);
    const found = await rows();
    expect(Object.fromEntries(found.map((row) => [row.id, row]))).toEqual(kept);
    await database.query(`UPDATE contact_merges SET status = 'undone', undone_at = now()`);
    for (const { id } of found) expect(await rows()).toContainEqual({ id, changes: [], outcome: FORGOTTEN });
  });
});
