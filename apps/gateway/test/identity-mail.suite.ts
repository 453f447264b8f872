import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isPermission } from '@customer-platform/permissions';
import {
  eventually,
  type Caller,
  START_WITHIN_MS,
  type PlatformUnderTest,
  type Tenant,
} from '@customer-platform/testing';
import { documentedRoutes, type DocumentedRoute } from './documented-routes.fixture.js';
import { journeyPlatform } from './journey.fixture.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SETTLED = { within: 60_000 };
/** Everything of an event and a mail that a template could reach for. */
const GREEDY = '{{ event.link }} {{ data.link }} {{ link }} {% for pair in event %}{{ pair }}{% endfor %}';
/** Every route that a permission of messaging's opens. */
const ROUTES = documentedRoutes().filter(({ permission }) => permission?.startsWith('messaging.'));
const PERMISSIONS = [...new Set(ROUTES.map(({ permission }) => permission ?? ''))].filter(isPermission);

const WALK_WITHIN_MS = 300_000;

/** A server of the attacker's: provider of mail and receiver of webhooks at once. It keeps all that comes. */
class Listener {
  readonly heard: string[] = [];
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.heard.push(
        `${request.url ?? ''} ${JSON.stringify(request.headers)} ${Buffer.concat(chunks).toString()}`,
      );
      response.writeHead(201).end(JSON.stringify({ provider_message_id: randomUUID() }));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const CARRYING: ReadonlySet<string> = new Set([
  'POST /v1/messaging/event-routing',
  'POST /v1/messaging/webhook-endpoints',
]);

describe('an organization that wants the token of an invitation or of a new password', () => {
  let platform: PlatformUnderTest;
  let tenant: Tenant;
  const listener = new Listener();
  let url: string;
  /** Everything that came back to the organization, whichever way. */
  const answers: string[] = [];
  beforeAll(async () => {
    url = await listener.start();
    platform = await journeyPlatform();
    tenant = await platform.tenant();
  }, START_WITHIN_MS);
  afterAll(() => listener.stop());

  it(
    'does not find it with any permission of messaging, on any route, before or after it was mailed',
    async () => {
      expect(PERMISSIONS.length).toBeGreaterThan(15);
      const template = await prepared();
      const callers = new Map<string, Caller>();
      for (const permission of PERMISSIONS)
        callers.set(permission, platform.as((await platform.keyWith(tenant, [permission])).key));
      await everyRoute(callers, template, null);
      const first = await invited();
      const send = await eventually(async () => {
        const [found] = await sends();
        if (found?.state !== 'sent') throw new Error('The invitation has not been mailed yet');
        return found;
      }, SETTLED);
      await everyRoute(callers, template, send.id);
      const second = await invited();
      const reset = await forgotten(await invited());
      await everyRoute(callers, template, (await sends()).at(-1)?.id ?? null);
      await eventually(
        async () => expect((await sends()).map(({ state }) => state)).toEqual(Array(4).fill('sent')),
        SETTLED,
      );
      // The webhooks that tell of it have come; what a send says is its address and state.
      await eventually(
        () =>
          expect(
            listener.heard.filter((text) => text.includes('messaging.send.sent')).length,
          ).toBeGreaterThan(1),
        SETTLED,
      );
      expect(send).toMatchObject({ address: first.email, subject: null, template_id: null, metadata: null });
      const tables = await Promise.all(
        [
          'sends',
          'send_payloads',
          'send_history',
          'outbox',
          'in_flight',
          'audit_entries',
          'webhook_deliveries',
        ].map((table) => platform.query('messaging', `SELECT * FROM ${table}`)),
      );
      const places = {
        answers,
        heard: listener.heard,
        logs: [platform.logs],
        tables: [JSON.stringify(tables)],
      };
      for (const [place, texts] of Object.entries(places)) {
        expect([place, texts.length > 0]).toEqual([place, true]);
        for (const { token } of [first, second, reset]) {
          // In any dress: as it is, within base64 or escaped, the MAC at its end stands out.
          const tail = token.slice(-24);
          expect([place, texts.filter((text) => text.includes(token) || text.includes(tail))]).toEqual([
            place,
            [],
          ]);
        }
      }
    },
    WALK_WITHIN_MS,
  );

  /** Everything set up as an attacker would who could do all of it at once. */
  async function prepared(): Promise<string> {
    const settings = {
      channels: {
        email: { provider: 'http', url, secret: SECRET, from: 'evil@tenant.example', max_per_second: 1 },
      },
      quiet_hours: { start: '00:00', end: '23:59', timezone: 'UTC' },
      caps: [{ channel: 'email', limit: 1, window: 'week' }],
      topics: [],
    };
    expect(
      (await note(tenant.admin.call('PUT', '/v1/messaging/channel-settings', { body: settings }))).status,
    ).toBe(200);
    const template = await note<{ id: string }>(tenant.admin.post('/v1/messaging/templates', aTemplate()));
    expect(template.status).toBe(201);
    for (const verb of ['invitation.created', 'invitation.resent', 'password.reset_requested']) {
      const rule = await note<{ errors: object[] }>(
        tenant.admin.post('/v1/messaging/event-routing', aRule(template.body.id, `identity.${verb}`)),
      );
      expect(rule.status).toBe(400);
      expect(rule.body.errors).toContainEqual(
        expect.objectContaining({ pointer: '/event_type', code: 'invalid_enum' }),
      );
    }
    const events = ['messaging.*', 'identity.*', 'core.*', 'loyalty.*'];
    const endpoint = { name: 'All', url, events };
    expect((await note(tenant.admin.post('/v1/messaging/webhook-endpoints', endpoint))).status).toBe(201);
    return template.body.id;
  }

  async function everyRoute(callers: ReadonlyMap<string, Caller>, template: string, send: string | null) {
    for (const route of ROUTES) {
      const caller = callers.get(route.permission ?? '');
      if (!caller) throw new Error(`No caller for ${route.path}`);
      const body = bodyOf(route, template);
      const id = route.path.includes('/templates/') ? template : (send ?? randomUUID());
      const path = route.path.replace('{id}', id).replace('{provider}', 'standard');
      const headers = { 'idempotency-key': randomUUID() };
      const answer = await note<{ code?: string }>(
        caller.call(route.method, path, { headers, ...(body === undefined ? {} : { body }) }),
      );
      // The route is open to its permission; to have something carried out needs the ones that read it, and to write to
      // an audience the one that reads that.
      const isToldOf = CARRYING.has(`${route.method} ${route.path}`);
      const isAimed = route.method === 'POST' && route.path === '/v1/messaging/campaigns';
      const refusal = answer.status === 401 || answer.status === 403 ? answer.body.code : undefined;
      const beside = isToldOf ? 'privilege_escalation' : isAimed ? 'permission_denied' : undefined;
      const expected = beside ?? (route.usersOnly ? 'user_required' : undefined);
      expect([route.path, refusal]).toEqual([route.path, expected]);
    }
  }

  function bodyOf(route: DocumentedRoute, template: string): unknown {
    if (route.method === 'GET' || route.method === 'DELETE') return undefined;
    if (route.path === '/v1/messaging/sends')
      return {
        channel: 'email',
        recipient: { address: `${randomUUID()}@example.com` },
        content: { subject: GREEDY, text: GREEDY },
      };
    if (route.path.endsWith('/preview')) return { locale: 'es', data: {} };
    if (route.path === '/v1/messaging/templates') return aTemplate();
    if (route.path === '/v1/messaging/event-routing') return aRule(template, 'core.event.recorded');
    if (route.path === '/v1/messaging/webhook-endpoints')
      return { name: randomUUID(), url, events: ['messaging.*'] };
    if (route.path === '/v1/messaging/channel-settings')
      return { channels: { email: { provider: 'http', url, secret: SECRET, from: 'evil@tenant.example' } } };
    return route.body;
  }

  async function invited(): Promise<{ email: string; token: string }> {
    const email = `${randomUUID()}@example.com`;
    const { status } = await note(tenant.admin.post('/v1/identity/invitations', { email, locale: 'es' }));
    expect(status).toBe(201);
    const mail = await eventually(async () => {
      const [found] = await platform.mailsTo(email);
      if (!found) throw new Error('The platform has not mailed it yet');
      return found;
    }, SETTLED);
    const { text } = await platform.mail(mail.id);
    const token = /#token=(\S+)/.exec(text)?.[1] ?? '';
    expect(token).toMatch(/^inv_/);
    return { email, token };
  }

  /** Somebody of the organization has forgotten their password, and opens the link of the mail. */
  async function forgotten(person: { email: string; token: string }): Promise<{ token: string }> {
    const body = { token: person.token, name: 'Violeta Parra', password: 'un paraguas verde bajo la lluvia' };
    expect((await platform.as().post('/v1/identity/invitations/accept', body)).status).toBe(200);
    const { email } = person;
    expect((await note(platform.as().post('/v1/identity/password-resets', { email }))).status).toBe(202);
    const mail = await eventually(async () => {
      const found = (await platform.mailsTo(email)).find(({ subject }) =>
        /contraseña|password/.test(subject),
      );
      if (!found) throw new Error('The platform has not mailed it yet');
      return found;
    }, SETTLED);
    const { text } = await platform.mail(mail.id);
    const [link = '', token = ''] = /https?:\S+\/oauth\/password-reset\?token=(\S+)/.exec(text) ?? [];
    expect(token).toMatch(/^pwr_/);
    // A query is what servers like to write down.
    await platform.as().get(link.slice(new URL(link).origin.length));
    return { token };
  }

  async function sends() {
    const path = '/v1/messaging/sends?sort=created_at&limit=200';
    const { body } = await note<{ data: { id: string; state: string; source: string }[] }>(
      tenant.admin.get(path),
    );
    return body.data.filter(({ source }) => source === 'identity');
  }

  /** Keeps an answer as it came. */
  async function note<T = unknown>(call: ReturnType<Caller['call']>) {
    const answer = await call;
    answers.push(JSON.stringify([answer.status, [...answer.headers], answer.body]));
    return answer as Omit<typeof answer, 'body'> & { body: T };
  }
});

function aTemplate() {
  const es = { subject: `Hola ${GREEDY}`, html: `<p>${GREEDY}</p>` };
  return {
    name: `Greedy ${randomUUID()}`,
    channel: 'email',
    default_locale: 'es',
    strict: false,
    locales: { es },
  };
}

function aRule(template: string, event: string) {
  const named = event === 'core.event.recorded' ? { event_name: randomUUID() } : {};
  return {
    name: `Greedy ${randomUUID()}`,
    event_type: event,
    channel: 'email',
    template_id: template,
    ...named,
  };
}
