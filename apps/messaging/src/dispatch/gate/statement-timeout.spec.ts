import { Clock } from '@customer-platform/database';
import { DatabaseFault, eventually } from '@customer-platform/testing';
import { LANES } from '../../vocabulary/sends/send.js';
import { Claims } from './claims.js';
import type { ClaimedSend } from './claimed-send.js';
import { DispatchBatch } from './dispatch-batch.js';
import { Lease } from '../transports/transport.js';
import { aSend, messagingWorld, send, settled, shown, type MessagingWorld } from '../../messaging.fixture.js';

/** A claim that was not settled runs out within this. */
const CLAIM_MS = 31_000;

describe('a send whose dispatch runs into a limit of the database', () => {
  let world: MessagingWorld;
  let ahead = 0;
  beforeAll(async () => {
    world = await messagingWorld({ consume: false });
    world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
  });
  afterAll(() => world.close());

  it.each(['57014', '53100', '25006'])('%s: waits and leaves later, and has not failed', async (code) => {
    const { id: organizationId, api } = world.organization();
    const fault = await DatabaseFault.in(world.database, {
      table: 'sends',
      on: 'UPDATE',
      when: `NEW.organization_id = '${organizationId}' AND NEW.state = 'dispatching'`,
      code,
    });
    let id: string;
    try {
      id = await send(api, aSend());
      await eventually(async () => expect(await fault.tries()).toBeGreaterThan(0));
    } finally {
      await fault.mend();
    }
    expect(await shown(api, id)).toMatchObject({ reason: null, attempts: 0 });
    ahead += CLAIM_MS;
    expect(await settled(api, id, 'sent', 'failed')).toMatchObject({ state: 'sent', reason: null });
  });

  it.each([
    ['has passed by then', 1, 'sent', null],
    ['stays', 5, 'failed', 'internal_error'],
  ])('whose dispatch is refused for a fault that %s', async (_, tries, state, reason) => {
    const { id: organizationId, api } = world.organization();
    const fault = await DatabaseFault.in(world.database, {
      table: 'sends',
      on: 'UPDATE',
      when: `NEW.organization_id = '${organizationId}' AND NEW.state = 'dispatching'`,
    });
    let id: string;
    try {
      id = await send(api, aSend());
      for (let times = 1; times <= tries; times += 1) {
        if (times > 1) ahead += CLAIM_MS;
        await eventually(async () => expect(await fault.tries()).toBe(times));
        expect((await shown(api, id)).state).not.toBe('sent');
      }
      if (state === 'failed') expect(await settled(api, id, 'failed')).toMatchObject({ reason, attempts: 0 });
    } finally {
      await fault.mend();
    }
    ahead += CLAIM_MS;
    expect(await settled(api, id, 'sent', 'failed')).toMatchObject({ state, reason });
  });

  it.each(['P0001', '57014'])('%s: one that cannot be given up keeps no other in flight', async (code) => {
    const [failing, other] = [world.organization(), world.organization()];
    const fault = await DatabaseFault.in(world.database, {
      table: 'sends',
      on: 'UPDATE',
      when: `NEW.organization_id = '${failing.id}' AND NEW.state = 'unknown'`,
      code,
    });
    try {
      const ids = await Promise.all([failing, other].map(({ api }) => send(api, aSend())));
      await Promise.all([failing, other].map(({ api }, at) => settled(api, ids[at] ?? '', 'sent')));
      // Found at once, as after a crash that left both.
      await world.database.query(
        `UPDATE sends SET state = 'dispatching', due_at = $2 WHERE id = ANY($1::uuid[])`,
        [ids, new Date(Date.now() + ahead)],
      );
      await settled(other.api, ids[1] ?? '', 'unknown');
      expect(await shown(failing.api, ids[0] ?? '')).toMatchObject({ state: 'dispatching' });
    } finally {
      await fault.mend();
    }
    ahead += CLAIM_MS;
    await eventually(async () =>
      expect(await world.database.query(`SELECT FROM sends WHERE state = 'dispatching'`)).toEqual([]),
    );
  });
});

describe('a batch that runs into limits of the database', () => {
  let world: MessagingWorld;
  let ahead = 0;
  beforeAll(async () => {
    // Nobody but the test takes sends up.
    world = await messagingWorld({ consume: false, env: { PROCESS_ROLE: 'api' } });
    world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
  });
  afterAll(() => world.close());

  const claimed = async (organizationId: string): Promise<readonly ClaimedSend[]> => {
    const share = { organizationId, channel: 'email', lane: LANES.transactional, take: 9 } as const;
    ahead += CLAIM_MS;
    return world.app.app.get(Claims, { strict: false }).take([{ ...share, maxPerSecond: undefined }]);
  };

  /** Until all hand-offs of it have ended. */
  const process = async (sends: readonly ClaimedSend[], apart: Lease): Promise<void> => {
    const flights: Promise<void>[] = [];
    const owner = {
      stopping: false,
      patienceMs: 60_000,
      inFlight: (_send: ClaimedSend, work: Promise<void>) => void flights.push(work),
      late: (_sends: readonly ClaimedSend[], work: Promise<void>) => void flights.push(work),
    };
    await world.app.app.get(DispatchBatch, { strict: false }).process(sends, owner, apart);
    await Promise.all(flights);
  };
  const over = (): Lease => Lease.from(performance.now(), 0);

  it.each(['dispatching', 'unknown'])(
    '%s: is taken apart while there is time; what is left comes first then',
    async (state) => {
      const { id: organizationId, api } = world.organization();
      const ids = await Promise.all([1, 2, 3].map(() => send(api, aSend())));
      const sends = () =>
        world.database.query<{ id: string; state: string }>(
          'SELECT id, state FROM sends WHERE id = ANY($1)',
          [ids],
        );
      const done = async (): Promise<number> =>
        (await sends()).filter((one) => ['sent', 'unknown'].includes(one.state)).length;
      // As after a crash that left all in flight.
      if (state === 'unknown')
        await world.database.query(`UPDATE sends SET state = 'dispatching' WHERE id = ANY($1::uuid[])`, [
          ids,
        ]);
      const [first = ''] = ids;
      const firstFirst = async (): Promise<ClaimedSend[]> =>
        (await claimed(organizationId)).toSorted((a, b) => Number(b.id === first) - Number(a.id === first));
      const fault = await DatabaseFault.in(world.database, {
        table: 'sends',
        on: 'UPDATE',
        when: `NEW.id = '${first}' AND NEW.state = '${state}'`,
        code: '57014',
      });
      try {
        // The batch, and the first of it alone.
        await process(await firstFirst(), over());
        expect(await done()).toBe(0);
        expect(await fault.tries()).toBe(2);
        await process(await firstFirst(), over());
        expect(await done()).toBe(1);
        await process(await firstFirst(), Lease.from(performance.now(), 3_600_000));
        expect(await done()).toBe(2);
      } finally {
        await fault.mend();
      }
      await process(await firstFirst(), over());
      expect(await done()).toBe(3);
    },
  );
});
