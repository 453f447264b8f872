import { EXIT, runPlatform, type ExitCode } from '@customer-platform/cli';
import { log } from '@customer-platform/http';
import { eventually, expectStatus, kafkaProbe, type KafkaProbe } from '@customer-platform/testing';
import { CONTACTS } from '../people/contacts/contact.fixture.js';
import { START_MS } from '../core.fixture.js';
import { ErasureWorld, OTHERS } from '../subject-requests/subject-request.fixture.js';
import { erasures } from './erasures.command.js';

let world: ErasureWorld;
let probe: KafkaProbe;
const level = log.level;
beforeAll(async () => {
  world = await ErasureWorld.start();
  probe = kafkaProbe(world.contacts.core.app);
  probe.collect('core');
}, START_MS);
afterAll(() => world.close());
afterEach(() => {
  log.level = level;
});

/** As an operator runs it. */
async function platform(...args: string[]): Promise<{ code: ExitCode; out: string; error: string }> {
  const former = process.env['DATABASE_URL'];
  process.env['DATABASE_URL'] = world.contacts.core.database.url;
  let [out, error] = ['', ''];
  try {
    const code = await runPlatform({
      module: 'core',
      commands: [erasures],
      args: ['erasures', 'ask-again', ...args],
      write: (text) => (out += text),
      writeError: (text) => (error += text),
    });
    return { code, out, error };
  } finally {
    if (former === undefined) delete process.env['DATABASE_URL'];
    else process.env['DATABASE_URL'] = former;
  }
}

/** How often the modules were asked. */
const asked = (organizationId: string): number =>
  probe.events('core.erasure.requested.v1', organizationId).length;

/** A person whom all modules have erased, but those that are named. */
async function erased(without: readonly string[] = []) {
  const { id: organizationId, caller } = world.contacts.anOrganization();
  const contact = await world.contacts.created(caller);
  const merged = await world.contacts.created(caller);
  const merge = { survivor_id: contact.id, merged_id: merged.id };
  expectStatus(await caller.post(`${CONTACTS}/merge`, merge), 200);
  const request = await world.erase(caller, { contact_id: contact.id });
  for (const module of OTHERS.filter((name) => !without.includes(name)))
    await world.tell(
      organizationId,
      request.id,
      module,
      await world.receipt(organizationId, request.id, module),
    );
  await world.doneByCore(caller, request);
  if (without.length === 0) await world.inState(caller, request, 'completed');
  await eventually(() => expect(asked(organizationId)).toBe(1));
  return { organizationId, caller, contact, merged, request };
}

describe('platform erasures ask-again', () => {
  it('asks for completed and open erasures again, and what was verified stands', async () => {
    const done = await erased();
    const open = await erased(['crm']);
    const before = await world.read(done.caller, done.request);
    const { code, out } = await platform('--json');
    expect([code, JSON.parse(out)]).toEqual([EXIT.done, { asked: expect.any(Number) as number }]);
    for (const { organizationId, request, contact, merged } of [done, open]) {
      await eventually(() => expect(asked(organizationId)).toBe(2));
      const [first, again] = probe.events('core.erasure.requested.v1', organizationId);
      for (const { data } of [first, again].flatMap((each) => each ?? [])) {
        expect(data).toMatchObject({ subject_request_id: request.id, contact_id: contact.id });
        expect(new Set(data.contact_ids)).toEqual(new Set([contact.id, merged.id]));
      }
      expect(again).toMatchObject({ subject: first?.subject, correlationid: first?.correlationid });
      expect(again?.id).not.toBe(first?.id);
    }
    // A module that has lost its receipt gives another, which changes nothing.
    const { organizationId, caller, request } = done;
    const counts = { notes: 7 };
    await world.tell(
      organizationId,
      request.id,
      'crm',
      await world.receipt(organizationId, request.id, 'crm', { counts }),
    );
    expect(await world.read(caller, request)).toEqual(before);
  }, 60_000);

  it('asks for what a module has erased since, or has not yet', async () => {
    const early = await erased();
    const waiting = await erased(['loyalty']);
    const late = await erased();
    const { database } = world.contacts.core;
    await database.query(
      `UPDATE subject_request_receipts SET received_at = received_at - interval '1 day'
        WHERE organization_id = ANY($1) OR (organization_id = $2 AND module <> 'messaging')`,
      [[early.organizationId, waiting.organizationId], late.organizationId],
    );
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const times = () => [early, waiting, late].map(({ organizationId }) => asked(organizationId));
    expect(times()).toEqual([1, 1, 1]);
    await platform('--since', since, '--module', 'loyalty');
    await eventually(() => expect(times()).toEqual([1, 2, 1]));
    await platform('--since', since, '--module', 'messaging');
    await eventually(() => expect(times()).toEqual([1, 2, 2]));
    await platform('--since', since);
    await eventually(() => expect(times()).toEqual([1, 3, 3]));
    await platform('--module', 'messaging');
    await eventually(() => expect(times()).toEqual([2, 4, 4]));
  }, 60_000);

  it.each([
    ['--since', 'yesterday'],
    ['--since', '2026-11-21T09:30:00'],
    ['--since', '2026-11-21T25:00:00Z'],
    ['--module', 'core'],
  ])('refuses %s %s', async (...args) => {
    const { code, error } = await platform(...args);
    expect(code).toBe(EXIT.failed);
    expect(error).toMatch(/^[^\n]+\n$/);
  });
});
