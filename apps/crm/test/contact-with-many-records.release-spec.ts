import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@customer-platform/database';
import { domainEvent, eventually } from '@customer-platform/testing';
import { ContactRefsConsumer } from '../src/contact-refs/contact-refs.consumer.js';
import { startCrm, type TestCrm } from '../src/crm.fixture.js';
import { OWNED, seedRecords } from '../src/objects/many-records.fixture.js';
import { ObjectWorld } from '../src/objects/objects.fixture.js';

/** `RECORDS=20000` is for a first look. */
const RECORDS = Number(process.env['RECORDS'] ?? 300_000);
const PAUSE_MS = 20;
const LONGEST_MS = 900_000;

let crm: TestCrm;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm({ events: true });
  world = new ObjectWorld(crm);
});
afterAll(() => crm.close());

/** Another client writes records of the same definition, half of them of this contact, while `work` goes on; prints what came of it. */
async function besideAWriter(
  { name, contactId }: { name: string; contactId: string },
  work: () => Promise<void>,
  until: () => Promise<void>,
): Promise<void> {
  let going = true;
  const times: number[] = [];
  const refused = new Map<number, number>();
  const writing = (async () => {
    for (let turn = 0; going; turn += 1, await pause(PAUSE_MS)) {
      const began = performance.now();
      const { status } = await world.post('vehicle', turn % 2 === 0 ? {} : { owner: contactId });
      times.push(performance.now() - began);
      if (status !== 201) refused.set(status, (refused.get(status) ?? 0) + 1);
    }
  })();
  const began = performance.now();
  let failed = '';
  try {
    await work();
    await until();
  } catch (error) {
    failed = `, FAILED: ${String(error)}`;
  }
  const took = performance.now() - began;
  going = false;
  await writing;
  times.sort((a, b) => a - b);
  const at = (share: number): string =>
    ((times[Math.ceil(share * times.length) - 1] ?? NaN) / 1_000).toFixed(3);
  const answers = [...refused].map(([status, count]) => `, ${String(status)}: ${String(count)}`).join('');
  process.stderr.write(
    `${name} of ${String(RECORDS)} records: ${(took / 1_000).toFixed(1)} s; a writer beside it: ${String(times.length)} calls, ` +
      `p50 ${at(0.5)} s, p99 ${at(0.99)} s, longest ${at(1)} s${answers}${failed}\n`,
  );
}

async function referencesOf(contactId: string): Promise<number> {
  const [row] = await crm.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM object_references WHERE organization_id = $1 AND contact_id = $2',
    [world.organizationId, contactId],
  );
  return row?.count ?? NaN;
}

const come = (contactId: string, count: number): Promise<void> =>
  eventually(async () => expect(await referencesOf(contactId)).toBe(count), {
    within: LONGEST_MS,
    every: 250,
  });

it(
  'prints how long a merge, its undo and an erasure take, and how long a writer beside them waits',
  async () => {
    const [survivor = '', merged = ''] = await world.contacts(2);
    const vehicle = await world.define('vehicle', OWNED);
    await seedRecords(world, vehicle, merged, RECORDS);
    await crm.database.query(
      'ANALYZE object_records, object_references, object_ids, object_texts, object_claims',
    );
    const beside = (name: string) => ({ name, contactId: survivor });
    await besideAWriter(
      beside('a merge'),
      () => world.merge(survivor, merged),
      () => come(merged, 0),
    );
    await besideAWriter(
      beside('its undo'),
      () => world.merge(survivor, merged, 'unmerged'),
      () => come(merged, RECORDS),
    );
    const request = { subject_request_id: newId(), contact_id: merged };
    const requested = domainEvent('core.erasure.requested.v1', world.organizationId, request);
    const receipt = async (): Promise<void> => {
      const find = 'SELECT counts FROM erasure_receipts WHERE organization_id = $1';
      await eventually(
        async () =>
          expect(await crm.database.query(find, [world.organizationId])).toMatchObject([
            { counts: { objects: RECORDS } },
          ]),
        { within: LONGEST_MS, every: 250 },
      );
    };
    await besideAWriter(
      beside('an erasure'),
      () => crm.app.app.get(ContactRefsConsumer).erase([requested]),
      receipt,
    );
    expect(await referencesOf(merged)).toBe(0);
  },
  4 * LONGEST_MS,
);
