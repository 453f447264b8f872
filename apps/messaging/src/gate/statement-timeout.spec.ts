import { Clock } from '@customer-platform/database';
import { DatabaseFault, eventually } from '@customer-platform/testing';
import { aSend, messagingWorld, send, settled, shown, type MessagingWorld } from '../messaging.fixture.js';

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
});
