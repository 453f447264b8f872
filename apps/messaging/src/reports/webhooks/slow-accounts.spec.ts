import type { IncomingMessage } from 'node:http';
import { Client } from 'pg';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { ProviderSignatureStrategy } from './provider-signature.strategy.js';
import { SETTINGS } from './webhook-world.fixture.js';

/** A row that runs into a time limit with others, and alone waits for as long as the test holds a lock. */
const SLOW = `
  CREATE SEQUENCE readings_of_slow_row;
  CREATE FUNCTION slow_row(id uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
  BEGIN
    IF id = '%' THEN
      IF nextval('readings_of_slow_row') = 1 THEN RAISE EXCEPTION 'too slow' USING ERRCODE = '57014'; END IF;
      PERFORM pg_advisory_xact_lock(4711);
    END IF;
    RETURN true;
  END $$;
  CREATE POLICY slow_row ON channel_settings AS RESTRICTIVE FOR SELECT USING (slow_row(organization_id))`;

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

/** An organization with an account of Meta, and a call of Meta's for it. */
async function anAccount(): Promise<{ id: string; called: () => Promise<string | null | undefined> }> {
  const { id, api } = world.organization();
  const whatsapp = { provider: 'meta', phone_number_id: '1', access_token: 'x', app_secret: 'y' };
  const { body } = await api.call<{ channels: Record<string, { webhook_url: string }> }>('PUT', SETTINGS, {
    body: { channels: { whatsapp } },
  });
  const { pathname, search } = new URL(body.channels['whatsapp']?.webhook_url ?? '');
  const request = { method: 'GET', url: pathname + search, headers: {}, params: { provider: 'meta' } };
  const strategy = world.app.app.get(ProviderSignatureStrategy);
  const called = async (): Promise<string | null | undefined> => {
    const call = await strategy.validate(
      request as unknown as IncomingMessage & { params: { provider: string } },
    );
    return call.reporter.organizationId;
  };
  return { id, called };
}

it('a call is read while the account of another that comes with it takes its time', async () => {
  const [slow, ...others] = [await anAccount(), await anAccount(), await anAccount()];
  await world.database.query(SLOW.replace('%', slow.id));
  const holder = new Client({ connectionString: world.database.adminUrl });
  await holder.connect();
  try {
    await holder.query('SELECT pg_advisory_lock(4711)');
    let isRead = false;
    const late = slow.called().finally(() => (isRead = true));
    expect(await Promise.all(others.map(({ called }) => called()))).toEqual(others.map(({ id }) => id));
    expect(isRead).toBe(false);
    await holder.query('SELECT pg_advisory_unlock(4711)');
    expect(await late).toBe(slow.id);
  } finally {
    await holder.end();
  }
});
