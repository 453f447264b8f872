import { randomBytes } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { anOrganization, DatabaseFault, expectProblem, expectStatus } from '@customer-platform/testing';
import { startCrm, type TestCrm } from './crm.fixture.js';

const TYPES = '/v1/crm/activity-types';
const PERMISSIONS = [
  'crm.activity_types.read',
  'crm.activity_types.create',
  'crm.activity_types.delete',
] as const;

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());

describe('POST with an Idempotency-Key', () => {
  it('leaves nothing where its answer cannot be kept; the same key then has one effect', async () => {
    const { id } = anOrganization();
    const caller = crm.app.as(id, PERMISSIONS);
    const headers = { 'Idempotency-Key': newId() };
    const post = () => caller.post<{ id: string }>(TYPES, { key: 'visit', name: 'Visit' }, headers);
    const fault = await DatabaseFault.in(crm.database, {
      table: 'idempotency_keys',
      on: 'UPDATE',
      when: `NEW.organization_id = '${id}' AND NEW.status IS NOT NULL`,
    });
    expectProblem(await post(), 500, 'internal_error');
    await fault.mend();
    expect((await caller.get<{ data: unknown[] }>(TYPES)).body.data).toEqual([]);
    const made = await post();
    expectStatus(made, 201);
    const again = await post();
    expect([again.body, again.headers.get('idempotent-replay')]).toEqual([made.body, 'true']);
  });

  it('is refused as ever where a segment of its path is thousands of characters long', async () => {
    const caller = crm.app.as(anOrganization().id, PERMISSIONS);
    const path = `${TYPES}/${randomBytes(3_000).toString('hex')}/restore`;
    const headers = { 'Idempotency-Key': newId() };
    expectProblem(await caller.post(path, undefined, headers), 400, 'invalid_id');
  });
});
