import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { EVENT_TYPES } from '@customer-platform/events';
import { eventually, type Caller } from '@customer-platform/testing';
import { MailSink } from '../../mail-sink.fixture.js';
import {
  aSend,
  messagingWorld,
  send,
  settled,
  shown,
  template,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';
import { Provider } from '../../provider.fixture.js';
import { aReport, postRaw, standardHeaders } from '../../reports/webhooks/signed-calls.fixture.js';

interface Page<T> {
  data: T[];
}

const SETTINGS = '/v1/messaging/channel-settings';
const ROUTING = '/v1/messaging/event-routing';
const SUPPRESSIONS = '/v1/messaging/suppressions';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SETTLED = { within: 20_000 };

let world: MessagingWorld;
let organization: { id: string; api: Caller };
/** The root, as identity says it. */
let platform: { id: string; api: Caller };
beforeAll(async () => {
  world = await messagingWorld();
  world.probe.collect('messaging');
  platform = world.organization();
});
afterAll(() => world.close());
beforeEach(() => {
  organization = world.organization();
});

/** An invitation as identity tells of it, and as it answers for its link. */
function anInvitation(locale: string | null = 'es-CL', { id: organizationId } = organization) {
  const id = newId();
  const address = `${randomUUID()}@example.com`;
  const link = `https://console.example/console/invitation#token=inv_${randomUUID()}`;
  const said = { address, link, organization_name: 'Tienda & Hijos', platform_organization_id: platform.id };
  world.app.registry.link(`invitation/${id}`, said);
  const event = (verb: 'created' | 'resent' | 'revoked', generation = 1) => ({
    type: `identity.invitation.${verb}.v1` as const,
    organizationId,
    correlationId: newId(),
    data: {
      organization_id: organizationId,
      id,
      locale,
      generation,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
  });
  return { id, address, link, event };
}

/** A password that was asked for anew. */
function aReset(more: object = {}) {
  const [id, address] = [newId(), `${randomUUID()}@example.com`];
  const link = `https://console.example/password/reset#token=${randomUUID()}`;
  const said = { address, link, organization_name: 'Tienda', platform_organization_id: platform.id, ...more };
  world.app.registry.link(`password_reset/${id}`, said);
  const event = {
    type: 'identity.password.reset_requested.v1' as const,
    organizationId: organization.id,
    correlationId: newId(),
    data: { organization_id: organization.id, id, user_id: newId() },
  };
  return { id, address, link, event };
}

function sendOf(correlationId: string, { api } = organization): Promise<ShownSend> {
  return eventually(async () => {
    const path = `/v1/messaging/sends?correlation_id=${correlationId}`;
    const [found, ...more] = (await api.get<Page<ShownSend>>(path)).body.data;
    if (!found) throw new Error('There is no send yet');
    expect(more).toEqual([]);
    return found;
  }, SETTLED);
}

async function told(
  event: Parameters<typeof world.probe.publish>[0],
  where = organization,
): Promise<ShownSend> {
  await world.probe.publish(event);
  return sendOf(event.correlationId ?? '', where);
}

async function reasonsFor(address: string, { api } = organization): Promise<string[]> {
  const { data } = (await api.get<Page<{ reason: string }>>(`${SUPPRESSIONS}?address=${address}`)).body;
  return data.map(({ reason }) => reason);
}

describe('an invitation', () => {
  it('is mailed by the platform, in its words, and shown by address, state and reason alone', async () => {
    const invitation = anInvitation();
    const { id } = await told(invitation.event('created'));
    const sent = await settled(organization.api, id, 'sent');
    const [mail, ...more] = await world.mail.parsed(invitation.address);
    expect(more).toEqual([]);
    expect(mail?.from?.address).toBe('no-reply@customer-platform.example');
    expect(mail?.subject).toBe('Te invitaron a Tienda & Hijos');
    expect(mail?.html).toContain(`href="${invitation.link}"`);
    expect(mail?.html).toContain('Tienda &amp; Hijos');
    expect(mail?.text).toContain(invitation.link);
    const { address, id: source_id } = invitation;
    expect(sent).toMatchObject({
      ...{ address, source: 'identity', source_id, reason: null },
      subject: null,
      contact_id: null,
      template_id: null,
      metadata: null,
    });
    const rows = await Promise.all(
      ['sends', 'send_payloads', 'send_history', 'outbox', 'in_flight', 'audit_entries'].map((table) =>
        world.database.query(`SELECT * FROM ${table} WHERE organization_id = ANY ($1)`, [
          [organization.id, platform.id],
        ]),
      ),
    );
    const events = EVENT_TYPES.flatMap((type) => world.probe.events(type, organization.id));
    for (const everything of [JSON.stringify(rows), JSON.stringify(events)])
      expect(everything).not.toContain(invitation.link.slice(-36));
    expect(JSON.stringify(rows)).toContain(id);
    expect(rows[1]).toEqual([]);
  });

  it('told of twice is mailed once, and again when it is sent again, in English where that is asked for', async () => {
    const invitation = anInvitation('en-GB');
    const created = { ...invitation.event('created'), id: newId() };
    const resent = invitation.event('resent', 2);
    await world.probe.publish(created, created);
    await settled(organization.api, (await sendOf(created.correlationId)).id, 'sent');
    await settled(organization.api, (await told(resent)).id, 'sent');
    const mails = await world.mail.parsed(invitation.address);
    expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('You are invited to Tienda & Hijos'));
  });

  it('leaves by the platform whatever the organization has set up: provider, server, hours, caps', async () => {
    const [provider, own] = [new Provider(), new MailSink()];
    await provider.start();
    const port = await own.start();
    const limits = {
      quiet_hours: { start: '00:00', end: '23:59', timezone: 'UTC' },
      caps: [{ channel: 'email', limit: 1, window: 'week' }],
    };
    const ways = [
      { provider: 'http', url: provider.url, secret: SECRET, from: 'a@tienda.example', max_per_second: 1 },
      { provider: 'smtp', host: '127.0.0.1', port, security: 'none', from: 'a@tienda.example' },
    ];
    for (const email of [...ways, undefined]) {
      const body = { channels: email ? { email } : {}, ...limits };
      expect((await organization.api.call('PUT', SETTINGS, { body })).status).toBe(200);
      const invitation = anInvitation();
      await settled(organization.api, (await told(invitation.event('created'))).id, 'sent');
      expect(world.mail.to(invitation.address)).toHaveLength(1);
    }
    expect([provider.requests, own.begun]).toEqual([[], []]);
    await Promise.all([provider.stop(), own.stop()]);
  });

  it('withdrawn before its mail has left is not mailed', async () => {
    const [withdrawn, other] = [anInvitation(), anInvitation()];
    // Identity is silent: neither mail can be written yet.
    world.app.registry.outage(true);
    let send: { id: string } | undefined;
    try {
      const [event, more] = [withdrawn.event('created'), other.event('created')];
      await world.probe.publish(event, more, withdrawn.event('revoked'));
      await eventually(async () => {
        const rows = await world.database.query<{ id: string; state: string }>(
          `SELECT id, state FROM sends WHERE source_id = $1`,
          [withdrawn.id],
        );
        [send] = rows;
        expect(rows.map(({ state }) => state)).toEqual(['canceled']);
      }, SETTLED);
    } finally {
      world.app.registry.outage(false);
    }
    await eventually(() => expect(world.mail.to(other.address)).toHaveLength(1), SETTLED);
    expect((await shown(organization.api, send?.id ?? '')).reason).toBe('invalid_token');
    expect(world.mail.to(withdrawn.address)).toEqual([]);
  });

  it('that nobody can accept any more when it is written is canceled', async () => {
    const invitation = anInvitation();
    world.app.registry.link(`invitation/${invitation.id}`);
    const { id } = await told(invitation.event('created'));
    expect((await settled(organization.api, id, 'canceled')).reason).toBe('invalid_token');
    expect(world.mail.to(invitation.address)).toEqual([]);
  });

  it.each([
    ['organization’s', () => organization],
    ['platform’s', () => platform],
  ])('to an address on the %s list is not mailed', async (_whose, list) => {
    const invitation = anInvitation();
    const body = { channel: 'email', address: invitation.address };
    expect((await list().api.post(SUPPRESSIONS, body)).status).toBe(201);
    const { id } = await told(invitation.event('created'));
    expect(await settled(organization.api, id, 'suppressed')).toMatchObject({ address: invitation.address });
    expect(world.mail.to(invitation.address)).toEqual([]);
  });

  it('to an address on a third organization’s list is mailed', async () => {
    const invitation = anInvitation();
    const other = world.organization();
    await other.api.post(SUPPRESSIONS, { channel: 'email', address: invitation.address });
    await settled(organization.api, (await told(invitation.event('created'))).id, 'sent');
  });

  it('is waited for by who suppresses its address on the platform’s list while it is in flight', async () => {
    const invitation = anInvitation();
    let answer: () => void = () => undefined;
    world.mail.answersAfter = new Promise<void>((resolve) => (answer = resolve));
    const { id } = await told(invitation.event('created'));
    await eventually(
      () => expect(world.mail.begun.map(({ to }) => to)).toContain(invitation.address),
      SETTLED,
    );
    let done = false;
    const writing = platform.api
      .post(SUPPRESSIONS, { channel: 'email', address: invitation.address })
      .then(() => (done = true));
    await eventually(async () => {
      const rows = await world.database.query(
        `SELECT 1 FROM suppressions WHERE organization_id = $1 AND address = $2`,
        [platform.id, invitation.address],
      );
      expect(rows).toHaveLength(1);
    }, SETTLED);
    expect(done).toBe(false);
    answer();
    world.mail.answersAfter = Promise.resolve();
    await writing;
    await settled(organization.api, id, 'sent');
    expect(await world.database.query('SELECT 1 FROM in_flight WHERE send_id = $1', [id])).toEqual([]);
  });

  it('that bounces for its address suppresses it for the organization and for the platform', async () => {
    const invitation = anInvitation();
    const refusal = { code: 550, text: '5.1.1 No such user', after: 'rcpt' } as const;
    world.mail.treat = (address) => (address === invitation.address ? refusal : undefined);
    const { id } = await told(invitation.event('created'));
    await settled(organization.api, id, 'bounced');
    for (const list of [organization, platform])
      await eventually(
        async () => expect(await reasonsFor(invitation.address, list)).toEqual(['hard_bounce']),
        SETTLED,
      );
    world.mail.treat = () => undefined;
  });

  it('of a suspended organization waits until it is active again', async () => {
    const { id: organizationId } = organization;
    const data = { organization_id: organizationId, id: organizationId, slug: 'tienda', changed: [] };
    const change = (verb: 'suspended' | 'reactivated') => ({
      type: `identity.organization.${verb}.v1` as 'identity.organization.suspended.v1',
      organizationId,
      data,
    });
    await world.probe.publish(change('suspended'));
    await eventually(async () => {
      const rows = await world.database.query(
        `SELECT 1 FROM organizations WHERE organization_id = $1 AND status = 'suspended'`,
        [organizationId],
      );
      expect(rows).toHaveLength(1);
    }, SETTLED);
    const invitation = anInvitation();
    const { id } = await told(invitation.event('created'));
    expect((await settled(organization.api, id, 'held')).reason).toBe('organization_suspended');
    await world.probe.publish(change('reactivated'));
    await settled(organization.api, id, 'sent');
  });
});

describe('a password reset', () => {
  it.each<[object, string, boolean]>([
    [{}, 'Choose a new password', true],
    [{ about: 'wrong_passwords' }, 'Somebody tries passwords for your account', true],
    [{ notice: 'single_sign_on' }, 'You sign in through your organization', false],
  ])('is mailed by the same lane, as identity says %j: %s', async (more, subject, leads) => {
    const { event, address, link } = aReset(more);
    expect(await settled(organization.api, (await told(event)).id, 'sent')).toMatchObject({ address });
    const [mail] = await world.mail.parsed(address);
    expect([mail?.subject, mail?.text?.includes(leads ? link : 'http')]).toEqual([subject, leads]);
  });

  it('is stopped by the platform’s list and not by an organization’s', async () => {
    const [free, stopped] = [aReset(), aReset()];
    await organization.api.post(SUPPRESSIONS, { channel: 'email', address: free.address });
    await platform.api.post(SUPPRESSIONS, { channel: 'email', address: stopped.address });
    await settled(organization.api, (await told(free.event)).id, 'sent');
    await settled(organization.api, (await told(stopped.event)).id, 'suppressed');
    expect(world.mail.to(stopped.address)).toEqual([]);
  });
});

describe('an organization', () => {
  it.each(['created', 'resent'])('can make no rule for identity.invitation.%s', async (verb) => {
    const answer = await organization.api.post<{ errors: object[] }>(ROUTING, {
      name: 'A copy',
      event_type: `identity.invitation.${verb}`,
      channel: 'email',
      template_id: await template(organization.api),
    });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toContainEqual(
      expect.objectContaining({ pointer: '/event_type', code: 'invalid_enum' }),
    );
  });

  it('cannot report on what the platform has sent: its own provider’s word changes nothing of it', async () => {
    const channels = {
      email: { provider: 'http', url: 'https://provider.example', secret: SECRET, from: 'a@b.example' },
    };
    const settings = await organization.api.call<{ channels: { email: { webhook_url: string } } }>(
      'PUT',
      SETTINGS,
      { body: { channels } },
    );
    const invitation = anInvitation();
    const { id } = await told(invitation.event('created'));
    const { provider_message_id: messageId } = await settled(organization.api, id, 'sent');
    const body = JSON.stringify(aReport(messageId ?? '', 'complained'));
    const hook = settings.body.channels.email.webhook_url;
    expect((await postRaw(world, hook, body, standardHeaders(SECRET, body))).status).toBe(200);
    expect((await shown(organization.api, id)).state).toBe('sent');
    expect(await reasonsFor(invitation.address)).toEqual([]);
  });

  it('keeps nobody’s mail waiting with a backlog, templates that hang and a provider that never answers', async () => {
    const provider = new Provider();
    await provider.start();
    provider.answer = () => new Promise<never>(() => undefined);
    const busy = world.organization();
    const channels = {
      email: { provider: 'http', url: provider.url, secret: SECRET, from: 'a@busy.example' },
    };
    await busy.api.call('PUT', SETTINGS, { body: { channels } });
    const endless = '{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}';
    for (let n = 0; n < 60; n += 1) {
      const content = n % 2 === 0 ? { subject: 'x', text: endless } : { subject: 'x', text: 'y' };
      await send(busy.api, aSend({ content }));
    }
    await eventually(() => expect(provider.requests.length).toBeGreaterThan(0), SETTLED);
    const invitation = anInvitation();
    await settled(organization.api, (await told(invitation.event('created'))).id, 'sent');
    const waiting = await world.database.query(
      `SELECT 1 FROM sends WHERE organization_id = $1 AND state IN ('accepted', 'rendering', 'gated', 'dispatching')`,
      [busy.id],
    );
    expect(waiting.length).toBeGreaterThan(0);
    await provider.stop();
  });

  it('that invites hundreds keeps another’s invitation waiting for a turn, not for all of them', async () => {
    const many = world.organization();
    let answer: () => void = () => undefined;
    world.mail.answersAfter = new Promise<void>((resolve) => (answer = resolve));
    const invitations = Array.from({ length: 200 }, () => anInvitation('en', many));
    await world.probe.publish(...invitations.map((each) => each.event('created')));
    await eventually(() => {
      const addresses = new Set(invitations.map(({ address }) => address));
      expect(world.mail.begun.some(({ to }) => addresses.has(to))).toBe(true);
    }, SETTLED);
    const one = anInvitation();
    const { id } = await told(one.event('created'));
    answer();
    world.mail.answersAfter = Promise.resolve();
    await settled(organization.api, id, 'sent');
    const before = world.mail.begun.slice(
      0,
      world.mail.begun.findIndex(({ to }) => to === one.address),
    );
    const theirs = new Set(invitations.map(({ address }) => address));
    // Those in hand when it came, and at most as many again; not two hundred.
    expect(before.filter(({ to }) => theirs.has(to)).length).toBeLessThanOrEqual(64);
    await eventually(
      () => {
        const counts = invitations.map(({ address }) => world.mail.to(address).length);
        expect(counts.filter((count) => count === 1)).toHaveLength(200);
      },
      { within: 60_000 },
    );
  });
});
