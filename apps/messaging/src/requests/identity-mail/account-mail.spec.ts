import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import { messagingWorld, settled, type MessagingWorld, type ShownSend } from '../../messaging.fixture.js';

const SETTINGS = '/v1/messaging/channel-settings';
const SUPPRESSIONS = '/v1/messaging/suppressions';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SETTLED = { within: 20_000 };
const REQUEST_PAGE = 'https://platform.example/oauth/password-reset/request';

type AccountEvent =
  | 'identity.password.changed.v1'
  | 'identity.mfa_factor.confirmed.v1'
  | 'identity.mfa_factor.removed.v1'
  | 'identity.recovery_code.used.v1'
  | 'identity.recovery_code.replaced.v1';

let world: MessagingWorld;
let organization: { id: string; api: Caller };
/** The root, as identity says it. */
let platform: { id: string; api: Caller };
beforeAll(async () => {
  world = await messagingWorld();
  platform = world.organization();
});
afterAll(() => world.close());
beforeEach(() => {
  organization = world.organization();
});

/** Makes an event about somebody's ways to sign in, as identity tells of it. */
function aChange(type: AccountEvent, link: string | null = REQUEST_PAGE, locale = 'en') {
  const [userId, address] = [newId(), `${randomUUID()}@example.com`];
  const said = {
    ...{ address, link, locale },
    ...{ organization_name: 'Tienda', platform_organization_id: platform.id, tenant_id: organization.id },
  };
  world.app.registry.link(`account/${userId}`, said);
  const event = {
    type,
    id: newId(),
    organizationId: organization.id,
    correlationId: newId(),
    data: { organization_id: organization.id, id: newId(), user_id: userId },
  };
  return { userId, address, event };
}

function sendOf(correlationId: string): Promise<ShownSend> {
  return eventually(async () => {
    const path = `/v1/messaging/sends?correlation_id=${correlationId}`;
    const [found, ...more] = (await organization.api.get<{ data: ShownSend[] }>(path)).body.data;
    if (!found) throw new Error('There is no send yet');
    expect(more).toEqual([]);
    return found;
  }, SETTLED);
}

async function told(event: Parameters<typeof world.probe.publish>[0]): Promise<ShownSend> {
  await world.probe.publish(event);
  return sendOf(event.correlationId ?? '');
}

describe('who has a password or a factor changed', () => {
  it.each<[AccountEvent, string]>([
    ['identity.password.changed.v1', 'Your password was changed'],
    ['identity.mfa_factor.confirmed.v1', 'A second factor was added to your account'],
    ['identity.mfa_factor.removed.v1', 'A second factor was removed from your account'],
    ['identity.recovery_code.used.v1', 'A recovery code of your account was used'],
    ['identity.recovery_code.replaced.v1', 'Your account has new recovery codes'],
  ])('is mailed of %s: when, and what to do', async (type, subject) => {
    const { event, address, userId } = aChange(type);
    const send = await told({ ...event, time: new Date(Date.now() - 2 * 86_400_000).toISOString() });
    expect((await settled(organization.api, send.id, 'failed')).reason).toBe('expired');
    expect(world.mail.to(address)).toEqual([]);

    const now = new Date().toISOString();
    const again = { ...event, id: newId(), correlationId: newId(), time: now };
    const sent = await settled(organization.api, (await told(again)).id, 'sent');
    expect(sent).toMatchObject({ address, source: 'identity', source_id: userId, subject: null });
    const [mail, ...more] = await world.mail.parsed(address);
    expect(more).toEqual([]);
    expect([mail?.subject, mail?.from?.address]).toEqual([subject, 'no-reply@customer-platform.example']);
    const when = `${String(new Date(now).getUTCHours()).padStart(2, '0')}:${now.slice(14, 16)} UTC`;
    for (const text of [when, REQUEST_PAGE, 'If it was not you']) expect(mail?.text).toContain(text);
  });

  it('is mailed once of factors that were removed together, all of them by name, whichever is told of first', async () => {
    const { event, address } = aChange('identity.mfa_factor.removed.v1');
    const removed = (names: string[]) => ({
      ...event,
      id: newId(),
      correlationId: newId(),
      data: { ...event.data, id: newId(), names },
    });
    const first = removed(['Phone', 'Tablet']);
    const [second, other] = [removed([]), aChange('identity.password.changed.v1')];
    await world.probe.publish(second, first, second);
    await settled(organization.api, (await sendOf(first.correlationId)).id, 'sent');
    // What is told of later has been sent: nothing more comes of what was told before.
    await settled(organization.api, (await told(other.event)).id, 'sent');
    const mails = await world.mail.parsed(address);
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Your second factors were removed from your account',
    ]);
    expect(mails[0]?.text).toContain('“Phone” and “Tablet”');
    // What a person calls their things is kept by nobody whom their end would reach.
    const kept = await world.database.query(
      `SELECT recipient::text AS recipient FROM sends WHERE correlation_id = $1`,
      [first.correlationId],
    );
    expect(kept).toEqual([{ recipient: expect.not.stringMatching(/Phone|Tablet|names/) as string }]);
  });

  it('is mailed once, however often it is told of, in the own language', async () => {
    const { event, address } = aChange('identity.password.changed.v1', null, 'es-CL');
    await world.probe.publish(event, event);
    await world.probe.publish(event);
    await settled(organization.api, (await sendOf(event.correlationId)).id, 'sent');
    const other = aChange('identity.password.changed.v1');
    await settled(organization.api, (await told(other.event)).id, 'sent');
    const mails = await world.mail.parsed(address);
    expect(mails.map(({ subject, text }) => [subject, /https?:/.test(text ?? '')])).toEqual([
      ['Tu contraseña cambió', false],
    ]);
  });

  it('is mailed whatever the organization has set up or suppressed; the platform’s list stops it', async () => {
    const [free, stopped] = [
      aChange('identity.password.changed.v1'),
      aChange('identity.mfa_factor.removed.v1'),
    ];
    const body = {
      channels: {
        email: { provider: 'http', url: 'https://provider.example', secret: SECRET, from: 'a@b.example' },
      },
      quiet_hours: { start: '00:00', end: '23:59', timezone: 'UTC' },
      caps: [{ channel: 'email', limit: 1, window: 'week' }],
    };
    expect((await organization.api.call('PUT', SETTINGS, { body })).status).toBe(200);
    await organization.api.post(SUPPRESSIONS, { channel: 'email', address: free.address });
    await platform.api.post(SUPPRESSIONS, { channel: 'email', address: stopped.address });
    await settled(organization.api, (await told(free.event)).id, 'sent');
    const named = { ...stopped.event, data: { ...stopped.event.data, names: ['Phone'] } };
    const ended = await settled(organization.api, (await told(named)).id, 'suppressed');
    const [row] = await world.database.query('SELECT recipient FROM sends WHERE id = $1', [ended.id]);
    expect(JSON.stringify(row)).not.toContain('Phone');
    expect(world.mail.to(stopped.address)).toEqual([]);
  });

  it('and is deleted before the mail has left is not mailed', async () => {
    const { event, address, userId } = aChange('identity.password.changed.v1');
    world.app.registry.link(`account/${userId}`);
    const { id } = await told(event);
    expect((await settled(organization.api, id, 'canceled')).reason).toBe('invalid_token');
    expect(world.mail.to(address)).toEqual([]);
  });
});
