import type { Type } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { startCrm, type TestCrm } from './crm.fixture.js';
import { IndexBuilder } from './objects/indexing/index-builder.js';
import { ContactRecordsJob } from './objects/records/contact-records.job.js';

const CHILDREN = 60;

let crm: TestCrm;
beforeAll(async () => {
  // Nothing runs by itself.
  crm = await startCrm();
});
afterAll(() => crm.close());

/** A job, and the rows that it takes; `$2` is since when they wait. */
const JOBS: readonly (readonly [table: string, job: Type, columns: string, values: string])[] = [
  [
    'contact_record_jobs',
    ContactRecordsJob,
    'contact_id, contacts, moved_at',
    'gen_random_uuid(), ARRAY[gen_random_uuid()], $2',
  ],
  [
    'object_index_jobs',
    IndexBuilder,
    'definition_id, number, work, moved_at',
    "gen_random_uuid(), 1, 'build', $2",
  ],
  [
    'contact_erasures',
    ContactRecordsJob,
    'subject_request_id, contact_ids, counts, correlation_id, causation_id, begun_at',
    "gen_random_uuid(), '{}', '{}', gen_random_uuid(), gen_random_uuid(), $2",
  ],
];

it.each(JOBS)('%s of tenants are done in turn, however many organizations one has', async (...of) => {
  const [table, type, columns, values] = of;
  const [tenant, neighbour] = [newId(), newId()];
  const children = Array.from({ length: CHILDREN }, () => newId());
  for (const id of children) crm.app.registry.organization(id, { tenant });
  crm.app.registry.organization(neighbour, { tenant: neighbour });
  const tenants = crm.app.app.get(Tenants, { strict: false });
  await eventually(() => {
    expect(new Set(children.map((id) => tenants.of(id)))).toEqual(new Set([tenant]));
  });
  const give = (ids: readonly string[], since: Date): Promise<unknown> =>
    crm.database.query(
      `INSERT INTO ${table} (organization_id, ${columns}) SELECT id, ${values} FROM unnest($1::uuid[]) AS id`,
      [ids, since],
    );
  await give(children, new Date(Date.now() - 3_600_000));
  await give([neighbour], new Date(Date.now() - 60_000));
  const left = (ids: readonly string[]): Promise<unknown[]> =>
    crm.database.query(`SELECT FROM ${table} WHERE organization_id = ANY($1::uuid[])`, [ids]);
  const job = crm.app.app.get<{ runNext(): Promise<boolean> }>(type, { strict: false });
  expect([await job.runNext(), await job.runNext()]).toEqual([true, true]);
  expect(await left([neighbour])).toHaveLength(0);
  expect(await left(children)).toHaveLength(CHILDREN - 1);
  while (await job.runNext());
  expect(await left(children)).toHaveLength(0);
});
