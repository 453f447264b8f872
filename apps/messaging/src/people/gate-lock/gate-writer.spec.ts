import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { eventually } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { GateWriter } from './gate-writer.js';

describe('a write that stops sends to an address', () => {
  let world: MessagingWorld;
  beforeAll(async () => {
    world = await messagingWorld({ consume: false });
  });
  afterAll(() => world.close());
  afterEach(() => jest.restoreAllMocks());

  it('waits for the hand-offs of before its commit, and for none that began later', async () => {
    const { id: organizationId } = world.organization();
    const key = randomUUID();
    const flying = async (sendId: string, attempt: number): Promise<void> => {
      await world.database.query(
        `INSERT INTO in_flight (organization_id, send_id, attempt, keys, lease_until)
         VALUES ($1, $2, $3, $4, now() + interval '1 hour')
         ON CONFLICT (organization_id, send_id) DO UPDATE SET attempt = excluded.attempt`,
        [organizationId, sendId, attempt, [key]],
      );
    };
    const [before, retried, later] = [randomUUID(), randomUUID(), randomUUID()];
    await flying(before, 1);
    await flying(retried, 1);
    // Its wait has no end of its own while this clock stands still.
    jest.spyOn(performance, 'now').mockReturnValue(0);
    let answered = false;
    const marker = randomUUID();
    const written = world.app.app
      .get(GateWriter, { strict: false })
      .write({ organizationId }, [key], (tx) =>
        tx.query(
          'INSERT INTO in_flight (organization_id, send_id, attempt, keys, lease_until) VALUES ($1, $2, 1, $3, now())',
          [organizationId, marker, []],
        ),
      )
      .then(() => (answered = true));
    await eventually(async () => {
      const committed = await world.database.query('SELECT FROM in_flight WHERE send_id = $1', [marker]);
      expect(committed).toHaveLength(1);
    });
    await flying(later, 1);
    await flying(retried, 2);
    expect(answered).toBe(false);
    await world.database.query('DELETE FROM in_flight WHERE organization_id = $1 AND send_id = $2', [
      organizationId,
      before,
    ]);
    await written;
    const left = await world.database.query('SELECT send_id FROM in_flight WHERE organization_id = $1', [
      organizationId,
    ]);
    expect(left).toHaveLength(3);
  }, 30_000);
});
