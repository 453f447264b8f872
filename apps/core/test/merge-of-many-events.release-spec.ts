import { setTimeout as pause } from 'node:timers/promises';
import { expectStatus } from '@customer-platform/testing';
import { at, CONTACTS, ContactWorld } from '../src/people/contacts/contact.fixture.js';
import { START_MS } from '../src/core.fixture.js';

/** `EVENTS=20000` is for a first look. */
const EVENTS = Number(process.env['EVENTS'] ?? 500_000);
const PAUSE_MS = 20;
const LOOK_MS = 100;
const LONGEST_MS = 900_000;

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const say = (line: string): boolean => process.stderr.write(`${line}\n`);

/** Another client changes a contact of the same organization while `work` goes on; prints what came of it. */
async function besideAWriter(
  name: string,
  write: (turn: number) => Promise<number>,
  work: () => Promise<void>,
): Promise<void> {
  let going = true;
  const times: number[] = [];
  const refused: number[] = [];
  const writing = (async () => {
    for (let turn = 0; going; turn += 1, await pause(PAUSE_MS)) {
      const began = performance.now();
      const status = await write(turn);
      times.push(performance.now() - began);
      if (status !== 200) refused.push(status);
    }
  })();
  const before = process.memoryUsage().rss;
  let most = before;
  const looking = (async () => {
    for (; going; await pause(LOOK_MS)) most = Math.max(most, process.memoryUsage().rss);
  })();
  const began = performance.now();
  let failed = '';
  try {
    await work();
  } catch (error) {
    failed = `, FAILED: ${String(error)}`;
  }
  const took = performance.now() - began;
  going = false;
  await Promise.all([writing, looking]);
  times.sort((a, b) => a - b);
  const place = (share: number): string =>
    ((times[Math.ceil(share * times.length) - 1] ?? NaN) / 1_000).toFixed(3);
  say(
    `${name} of ${String(EVENTS)} events: ${(took / 1_000).toFixed(1)} s, ${((most - before) / 2 ** 20).toFixed(0)} MiB more; ` +
      `a writer beside it: ${String(times.length)} calls, p50 ${place(0.5)} s, p99 ${place(0.99)} s, longest ${place(1)} s` +
      `${refused.length > 0 ? `, refused: ${refused.join()}` : ''}${failed}`,
  );
}

it(
  'prints how long a merge of a contact with many events takes, and its undo, and how long a writer beside them waits',
  async () => {
    const { id: organizationId, caller } = world.anOrganization();
    const survivor = await world.created(caller);
    const merged = await world.created(caller);
    const other = await world.created(caller);
    const began = performance.now();
    await world.query(
      `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at,
                           payload, source, fingerprint, created_at)
       SELECT $1, gen_random_uuid(), 'track', 'seen', 'x', $2, 'k' || n,
              timestamptz '2026-01-01T00:00:00Z' - n * interval '1 s', now(), '{"properties": {"amount": 12990}}', 'api',
              gen_random_uuid(), now()
         FROM generate_series(1, $3::int) AS n`,
      [organizationId, merged.id, EVENTS],
    );
    say(`${String(EVENTS)} events written in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    const write = async (turn: number): Promise<number> =>
      (await caller.patch(at(other), { first_name: `Name ${String(turn)}` })).status;
    let mergeId = '';
    await besideAWriter('a merge', write, async () => {
      const body = { survivor_id: survivor.id, merged_id: merged.id };
      const answer = await caller.post<{ merge_id: string }>(`${CONTACTS}/merge`, body);
      expectStatus(answer, 200);
      mergeId = answer.body.merge_id;
    });
    await besideAWriter('its undo', write, async () => {
      expectStatus(await caller.post(`${CONTACTS}/merge`, { undo_merge_id: mergeId }), 200);
    });
  },
  4 * LONGEST_MS,
);
