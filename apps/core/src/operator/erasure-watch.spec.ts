import { eventually } from '@customer-platform/testing';
import { START_MS } from '../core.fixture.js';
import { ErasureWorld, OTHERS } from '../subject-requests/subject-request.fixture.js';
import { ErasureWatch } from './erasure-watch.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

/** What the process shows now. */
async function shown(): Promise<Map<string, number>> {
  const { app } = world.contacts.core;
  await app.app.get(ErasureWatch, { strict: false }).look();
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => /^(?:erasure|subject_requests)_/.test(line));
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
}

it('shows how long erasures wait and for what, receipts that were refused, and requests that are overdue', async () => {
  const { id: organizationId, caller } = world.contacts.anOrganization();
  const { database } = world.contacts.core;
  const contact = await world.contacts.created(caller);
  const request = await world.erase(caller, { contact_id: contact.id });
  await world.doneByCore(caller, request);
  const forged = await world.receipt(organizationId, request.id, 'crm', { signedBy: 'loyalty' });
  await world.tell(organizationId, request.id, 'crm', forged);
  await eventually(async () => {
    const { receipts } = await world.read(caller, request);
    expect(receipts.map(({ state }) => state)).toContain('refused');
  });
  await database.query(
    `UPDATE contact_erasures SET created_at = now() - interval '2 days' WHERE organization_id = $1`,
    [organizationId],
  );
  await database.query(
    `UPDATE subject_requests SET due_at = now() - interval '1 s' WHERE organization_id = $1`,
    [organizationId],
  );
  const waiting = await shown();
  expect(waiting.get('erasure_oldest_age_seconds{step="asked"}')).toBeGreaterThanOrEqual(2 * 86_400);
  expect(waiting.get('erasure_receipts_refused{of_module="crm"}')).toBe(1);
  expect(waiting.get('subject_requests_overdue')).toBe(1);

  for (const module of OTHERS)
    await world.tell(
      organizationId,
      request.id,
      module,
      await world.receipt(organizationId, request.id, module),
    );
  await world.inState(caller, request, 'completed');
  const done = await shown();
  expect([...done.keys()].filter((name) => !name.startsWith('subject'))).toEqual([]);
  expect(done.get('subject_requests_overdue')).toBe(0);
}, 60_000);
