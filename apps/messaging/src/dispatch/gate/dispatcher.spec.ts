import { eventually } from '@customer-platform/testing';
import type { MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { DispatchSignal } from '../sends/dispatch-signal.js';
import type { ClaimedSend } from './claimed-send.js';
import type { Claims, GroupShare } from './claims.js';
import type { DispatchBatch } from './dispatch-batch.js';
import { Dispatcher, GENERAL_LANES } from './dispatcher.js';
import type { Transports } from '../transports/transports.js';

describe('the places of a transport', () => {
  const group = { organizationId: 'one', channel: 'email', lane: 0 } as const;
  const plan = { transportKey: 'smtp' };

  it('are all free again when a send whose claim ran out was in hand twice', async () => {
    const places: number[] = [];
    const ends: (() => void)[] = [];
    const claims = {
      dueGroups: () => Promise.resolve([{ group, plan }]),
      take: (shares: readonly GroupShare[]) => {
        places.push(shares.reduce((sum, { take }) => sum + take, 0));
        const claim = `claim ${String(places.length)}`;
        return Promise.resolve(places.length > 2 ? [] : [{ ...group, id: 'the same', claim } as ClaimedSend]);
      },
    };
    const work = {
      process: () => new Promise<void>((resolve) => ends.push(resolve)),
    };
    const dispatcher = new Dispatcher(
      { worker: true } as MessagingConfig,
      new DispatchSignal(),
      claims as unknown as Claims,
      { of: () => ({ capacity: () => 24 }) } as unknown as Transports,
      work as unknown as DispatchBatch,
      { of: (organizationId) => organizationId },
      GENERAL_LANES,
    );
    dispatcher.onApplicationBootstrap();
    try {
      await eventually(() => expect(ends).toHaveLength(2));
      for (const end of ends) end();
      const before = places.length;
      await eventually(() => expect(places.length).toBeGreaterThan(before + 1));
    } finally {
      await dispatcher.beforeApplicationShutdown();
    }
    expect(places.slice(0, 2)).toEqual([24, 23]);
    expect(places.at(-1)).toBe(24);
  });
});
