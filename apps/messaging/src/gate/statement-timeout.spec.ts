import { Clock } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
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
    const { query } = world.database;
    await query(`
      CREATE SEQUENCE tried;
      GRANT USAGE ON SEQUENCE tried TO PUBLIC;
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.organization_id = '${organizationId}' AND NEW.state = 'dispatching' THEN
          PERFORM nextval('tried');
          RAISE EXCEPTION 'refused' USING ERRCODE = '${code}';
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON sends FOR EACH ROW EXECUTE FUNCTION refuse()`);
    let id: string;
    try {
      id = await send(api, aSend());
      await eventually(async () => {
        const [row] = await query<{ called: boolean }>('SELECT is_called AS called FROM tried');
        expect(row?.called).toBe(true);
      });
    } finally {
      await query('DROP TRIGGER refuse ON sends; DROP FUNCTION refuse(); DROP SEQUENCE tried');
    }
    expect(await shown(api, id)).toMatchObject({ reason: null, attempts: 0 });
    ahead += CLAIM_MS;
    expect(await settled(api, id, 'sent', 'failed')).toMatchObject({ state: 'sent', reason: null });
  });
});
