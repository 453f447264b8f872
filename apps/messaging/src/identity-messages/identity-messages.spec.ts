import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import {
  messagingWorld,
  settled,
  template,
  type MessagingWorld,
  type ShownSend,
} from '../messaging.fixture.js';
import { Provider } from '../provider.fixture.js';
import { aReport, postRaw, standardHeaders } from '../webhooks/signed-calls.fixture.js';

interface Shown {
  id: string;
  name: string;
  channel: string;
  published_version: number;
  locales: Record<string, object>;
  event_type: string;
  template_id: string;
}
interface Page<T> {
  data: T[];
}

const TEMPLATES = '/v1/messaging/templates';
const ROUTING = '/v1/messaging/event-routing';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SETTLED = { within: 20_000 };

let world: MessagingWorld;
let organization: { id: string; api: Caller };
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  organization = world.organization();
});

const listOf = async (path: string, api = organization.api): Promise<Shown[]> =>
  (await api.get<Page<Shown>>(`${path}?sort=name`)).body.data;

const founded = (id = organization.id) => ({
  type: 'identity.organization.created.v1' as const,
  organizationId: id,
  data: { organization_id: id, id, slug: 'tienda', changed: [] },
});

/** An invitation as identity tells of it, and as it answers for its link. */
function anInvitation(locale: string | null = 'es-CL') {
  const id = newId();
  const address = `${randomUUID()}@example.com`;
  const link = `https://console.example/invitations/accept#token=inv_${randomUUID()}`;
  world.app.registry.link(`invitation/${id}`, { address, link, organization_name: 'Tienda & Hijos' });
  const event = (verb: 'created' | 'resent' | 'revoked', generation = 1) => ({
    type: `identity.invitation.${verb}.v1` as const,
    organizationId: organization.id,
    correlationId: newId(),
    data: {
      organization_id: organization.id,
      id,
      locale,
      generation,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
  });
  return { id, address, link, event };
}

function sendOf(correlationId: string): Promise<ShownSend> {
  return eventually(async () => {
    const path = `/v1/messaging/sends?correlation_id=${correlationId}`;
    const [found] = (await organization.api.get<Page<ShownSend>>(path)).body.data;
    if (!found) throw new Error('There is no send yet');
    return found;
  }, SETTLED);
}

async function told(event: ReturnType<ReturnType<typeof anInvitation>['event']>): Promise<ShownSend> {
  await world.probe.publish(event);
  return sendOf(event.correlationId);
}

describe('a new organization', () => {
  it('is given identity’s templates, in two languages, and a rule for each event, once', async () => {
    await world.probe.publish(founded(), founded());
    const rules = await eventually(async () => {
      const found = await listOf(ROUTING);
      expect(found).toHaveLength(3);
      return found;
    }, SETTLED);
    const templates = await listOf(TEMPLATES);
    expect(templates.map(({ name, published_version: version }) => [name, version])).toEqual([
      ['Invitation', 1],
      ['Password reset', 1],
    ]);
    for (const { locales } of templates) expect(Object.keys(locales).sort()).toEqual(['en', 'es']);
    const [invitation, reset] = templates;
    expect(rules.map(({ event_type: type, template_id: id }) => [type, id])).toEqual([
      ['identity.invitation.created', invitation?.id],
      ['identity.invitation.resent', invitation?.id],
      ['identity.password.reset_requested', reset?.id],
    ]);
    // Repeated, and for another one: nothing is given twice, and what was deleted stays deleted.
    for (const { id } of rules) await organization.api.delete(`${ROUTING}/${id}`);
    const next = world.organization();
    await world.probe.publish(founded(), founded(next.id));
    await eventually(async () => expect(await listOf(ROUTING, next.api)).toHaveLength(3), SETTLED);
    expect(await listOf(ROUTING)).toEqual([]);
    expect(await listOf(TEMPLATES)).toHaveLength(2);
  });

  it('that has a template of the same name keeps it', async () => {
    const own = await template(organization.api, { name: 'Invitation' });
    await world.probe.publish(founded());
    await eventually(async () => expect(await listOf(ROUTING)).toHaveLength(3), SETTLED);
    const templates = await listOf(TEMPLATES);
    expect(templates.map(({ name }) => name)).toEqual(['Invitation', 'Invitation (2)', 'Password reset']);
    expect(templates[0]?.id).toBe(own);
  });

  it('can look at what they say before anything is sent', async () => {
    await world.probe.publish(founded());
    await eventually(async () => expect(await listOf(TEMPLATES)).toHaveLength(2), SETTLED);
    for (const { id } of await listOf(TEMPLATES))
      for (const locale of ['es', 'en']) {
        const answer = await organization.api.post<{ parts: { text: string } }>(
          `${TEMPLATES}/${id}/preview`,
          {
            locale,
          },
        );
        expect([answer.status, answer.body.parts.text.length > 100]).toEqual([200, true]);
      }
  });
});

describe('an invitation', () => {
  it('is mailed with link and address that identity said, which are stored nowhere', async () => {
    const invitation = anInvitation();
    // Heard of before the organization's founding: the events come by different ways.
    const { id } = await told(invitation.event('created'));
    const send = await settled(organization.api, id, 'sent');
    const [mail, ...more] = await world.mail.parsed(invitation.address);
    expect(more).toEqual([]);
    expect(mail?.subject).toBe('Te invitaron a Tienda & Hijos');
    expect(mail?.html).toContain(`href="${invitation.link}"`);
    expect(mail?.html).toContain('Tienda &amp; Hijos');
    expect(mail?.text).toContain(invitation.link);
    expect(mail?.text).toContain('Tienda & Hijos');
    expect(send.address).toBeNull();
    expect(send.contact_id).toBeNull();
    const rows = await Promise.all(
      ['sends', 'send_payloads', 'send_history', 'outbox', 'in_flight', 'audit_entries'].map((table) =>
        world.database.query(`SELECT * FROM ${table} WHERE organization_id = $1`, [organization.id]),
      ),
    );
    const everything = JSON.stringify(rows);
    expect(everything).toContain(id);
    expect(everything).not.toContain(invitation.address);
    expect(everything).not.toContain(invitation.link);
  });

  it('is mailed again when it is sent again, in English where that is what it asks for', async () => {
    const invitation = anInvitation('en-GB');
    for (const [verb, generation] of [
      ['created', 1],
      ['resent', 2],
    ] as const) {
      const { id } = await told(invitation.event(verb, generation));
      await settled(organization.api, id, 'sent');
    }
    const mails = await world.mail.parsed(invitation.address);
    expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('You are invited to Tienda & Hijos'));
  });

  it('withdrawn before its mail has left is not mailed', async () => {
    await world.probe.publish(founded());
    const rules = await eventually(async () => {
      const found = await listOf(ROUTING);
      expect(found).toHaveLength(3);
      return found;
    }, SETTLED);
    const rule = rules.find(({ event_type: type }) => type === 'identity.invitation.created');
    await organization.api.patch(`${ROUTING}/${rule?.id ?? ''}`, { delay_seconds: 3_600 });
    const [withdrawn, other] = [anInvitation(), anInvitation()];
    const [send, waiting] = [await told(withdrawn.event('created')), await told(other.event('created'))];
    await world.probe.publish(withdrawn.event('revoked'));
    const canceled = await settled(organization.api, send.id, 'canceled');
    expect(canceled.reason).toBe('invalid_token');
    expect((await settled(organization.api, waiting.id, 'accepted')).state).toBe('accepted');
  });

  it('that nobody can accept any more when it is rendered is canceled', async () => {
    const invitation = anInvitation();
    world.app.registry.link(`invitation/${invitation.id}`);
    const { id } = await told(invitation.event('created'));
    expect((await settled(organization.api, id, 'canceled')).reason).toBe('invalid_token');
    expect(world.mail.to(invitation.address)).toEqual([]);
  });

  it('to an address that is suppressed is not mailed', async () => {
    const invitation = anInvitation();
    const suppressed = await organization.api.post('/v1/messaging/suppressions', {
      channel: 'email',
      address: invitation.address,
    });
    expect(suppressed.status).toBe(201);
    const { id } = await told(invitation.event('created'));
    await settled(organization.api, id, 'suppressed');
    expect(world.mail.to(invitation.address)).toEqual([]);
  });

  it('that bounces for its address suppresses it, though the address is not stored with the send', async () => {
    const invitation = anInvitation();
    world.mail.treat = (address) =>
      address === invitation.address ? { code: 550, text: '5.1.1 No such user', after: 'rcpt' } : undefined;
    const { id } = await told(invitation.event('created'));
    await settled(organization.api, id, 'bounced');
    await eventually(async () => {
      const path = `/v1/messaging/suppressions?address=${invitation.address}`;
      const { data } = (await organization.api.get<Page<{ reason: string }>>(path)).body;
      expect(data.map(({ reason }) => reason)).toEqual(['hard_bounce']);
    }, SETTLED);
    world.mail.treat = () => undefined;
  });

  describe('sent by a provider that reports on it later', () => {
    const provider = new Provider();
    beforeAll(() => provider.start());
    afterAll(() => provider.stop());

    /** An invitation mailed by the organization's own provider, and how that one reports on it. */
    async function mailed() {
      const channels = {
        email: { provider: 'http', url: provider.url, secret: SECRET, from: 'a@tienda.example' },
      };
      const settings = await organization.api.call<{ channels: { email: { webhook_url: string } } }>(
        'PUT',
        '/v1/messaging/channel-settings',
        { body: { channels } },
      );
      const messageId = randomUUID();
      provider.answer = () => ({ status: 201, body: { provider_message_id: messageId } });
      const invitation = anInvitation();
      const { id } = await told(invitation.event('created'));
      await settled(organization.api, id, 'sent');
      const report = (event: string, more: object = {}) => {
        const body = JSON.stringify(aReport(messageId, event, more));
        return postRaw(world, settings.body.channels.email.webhook_url, body, standardHeaders(SECRET, body));
      };
      return { ...invitation, send: id, report };
    }

    async function reasonsFor(address: string): Promise<string[]> {
      const path = `/v1/messaging/suppressions?address=${address}`;
      const { data } = (await organization.api.get<Page<{ reason: string }>>(path)).body;
      return data.map(({ reason }) => reason);
    }

    it.each([
      ['complained', {}, 'complaint'],
      ['bounced', { bounce_type: 'hard' }, 'hard_bounce'],
    ])('%s %j: its address is suppressed before the report is answered', async (event, more, reason) => {
      const { address, report } = await mailed();
      expect((await report(event, more)).status).toBe(200);
      expect(await reasonsFor(address)).toEqual([reason]);
    });

    it('waits for an identity that is silent', async () => {
      const { address, send, report } = await mailed();
      world.app.registry.outage(true);
      try {
        expect(await report('complained')).toMatchObject({
          status: 503,
          body: { code: 'dependency_unavailable' },
        });
      } finally {
        world.app.registry.outage(false);
      }
      expect((await report('complained')).status).toBe(200);
      expect(await reasonsFor(address)).toEqual(['complaint']);
      await settled(organization.api, send, 'complained');
    });

    it('suppresses nobody where identity no longer says whose it was', async () => {
      const { id, address, send, report } = await mailed();
      world.app.registry.link(`invitation/${id}`);
      expect((await report('complained')).status).toBe(200);
      await settled(organization.api, send, 'complained');
      expect(await reasonsFor(address)).toEqual([]);
    });
  });

  it('says its link to the invited person alone: a rule of another recipient does not learn it', async () => {
    await world.probe.publish(founded());
    await eventually(async () => expect(await listOf(ROUTING)).toHaveLength(3), SETTLED);
    const curious = await template(organization.api, {
      locales: { es: { subject: 'Copia', html: '<p>{{ event.link }}</p>' } },
    });
    const address = `${randomUUID()}@example.com`;
    const rule = await organization.api.post(ROUTING, {
      name: 'A copy',
      event_type: 'identity.invitation.created',
      channel: 'email',
      template_id: curious,
      recipient: { from: 'address', value: address },
    });
    expect(rule.status).toBe(201);
    const event = anInvitation().event('created');
    await world.probe.publish(event);
    await eventually(async () => {
      const path = `/v1/messaging/sends?correlation_id=${event.correlationId}`;
      const states = (await organization.api.get<Page<ShownSend>>(path)).body.data.map(
        ({ state, reason }) => `${state} ${reason ?? ''}`,
      );
      expect(states.sort()).toEqual(['failed render_failed', 'sent ']);
    }, SETTLED);
    expect(world.mail.to(address)).toEqual([]);
  });
});
