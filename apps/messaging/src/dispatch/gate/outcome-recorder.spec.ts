import { DatabaseFault, eventually } from '@customer-platform/testing';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

describe('the outcome of a hand-off', () => {
  it('that can never be written keeps nobody else’s from being written', async () => {
    const [one, other] = [world.organization(), world.organization()];
    const fault = await DatabaseFault.in(world.database, {
      table: 'sends',
      on: 'UPDATE',
      when: `NEW.organization_id = '${one.id}' AND NEW.state = 'sent'`,
    });
    const stuck = await send(one.api, aSend());
    await eventually(async () => expect(await fault.tries()).toBeGreaterThan(0));
    const theirs = await send(other.api, aSend());
    await settled(other.api, theirs, 'sent');
    const [row] = await world.database.query<{ state: string }>('SELECT state FROM sends WHERE id = $1', [
      stuck,
    ]);
    expect(row?.state).toBe('dispatching');
    await fault.mend();
  });
});
