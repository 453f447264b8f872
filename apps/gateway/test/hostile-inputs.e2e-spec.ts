import {
  END_WITHIN_MS,
  MODULES,
  PlatformUnderTest,
  START_WITHIN_MS,
  TEST_CERTIFICATE,
  type Module,
  type Tenant,
} from '@customer-platform/testing';
import { randomUUID } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { done, obtainCredentials, type Credentials } from './credentials.fixture.js';
import {
  bodyRoutes,
  headerRoutes,
  hostileBody,
  queryRoutes,
  type BodyRoute,
  type HeaderRoute,
  type QueryRoute,
  type Route,
} from './hostile-inputs.fixture.js';
import { Judge, type Call } from './hostile-judge.fixture.js';
import { FULL, meets, PARTS, SHAPES, TEXTS, type Shape, type TextShape } from './hostile-shapes.fixture.js';
import { PROVIDERS, SNS } from './hostile-webhooks.fixture.js';

const KIB = 1024;
/** What the server takes: a target of 8 KiB, a head of 16 KiB with all that a call carries besides. */
const LONGEST_QUERY = 8 * KIB - 300;
const LONGEST_HEADER = 14 * KIB;
const WEBHOOK_LIMIT = FULL ? KIB * KIB : 128 * KIB;

/** Routes of which a tenant has only so many places at once. */
const OF_FEW_PLACES = ['/v1/core/events/stream', '/v1/core/imports'];
const WEBHOOKS = '/v1/messaging/webhooks/{provider}';
const SECRETS = {
  http: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  twilio: 'a-token-of-tests-that-nobody-else-has',
  meta: 'a secret of an application',
  mailgun: 'a key of signatures',
  ses: TEST_CERTIFICATE.key,
};

jest.setTimeout(600_000);

let platform: PlatformUnderTest;
let mine: Tenant;
let credentials: Credentials;
let judge: Judge;
/** The address of each provider's account, as the provider is told it. */
let webhookUrls: Readonly<Record<string, string>>;
/** In the place of SNS. */
const certificates = createServer((_request, response) => response.end(TEST_CERTIFICATE.cert));

beforeAll(async () => {
  // What proxies say of callers is read from those that are trusted: here from everybody.
  platform = await PlatformUnderTest.start({ gateway: { TRUSTED_PROXIES: '127.0.0.1' } });
  judge = new Judge(platform);
  mine = await platform.tenant();
  credentials = await obtainCredentials(platform, mine);
  const sms = {
    provider: 'twilio',
    from: '+56961234567',
    account_sid: `AC${'a'.repeat(32)}`,
    auth_token: SECRETS.twilio,
  };
  const whatsapp = { provider: 'meta', phone_number_id: '1', access_token: 'x', app_secret: SECRETS.meta };
  const email = {
    provider: 'mailgun',
    from: 'shop@shop.example',
    domain: 'shop.example',
    api_key: 'x',
    signing_key: SECRETS.mailgun,
  };
  const push = { provider: 'http', url: 'https://push.shop.example/messages', secret: SECRETS.http };
  const { channels } = await done<{
    channels: Record<'sms' | 'push' | 'whatsapp' | 'email', { webhook_url: string }>;
  }>(
    mine.admin.call('PUT', '/v1/messaging/channel-settings', {
      body: { channels: { sms, push, whatsapp, email } },
    }),
  );
  webhookUrls = {
    standard: channels.push.webhook_url,
    generic: channels.push.webhook_url.replace('/standard', '/generic'),
    twilio: channels.sms.webhook_url,
    meta: channels.whatsapp.webhook_url,
    mailgun: channels.email.webhook_url,
    ses: await sesWebhook(),
  };
}, START_WITHIN_MS);
afterAll(() => certificates.close());
afterAll(() => platform.stop(), END_WITHIN_MS);
afterAll(() => void process.stdout.write(`\nThe longest that a route held a loop:\n${judge.report}`));

/** Of a tenant of its own: a channel has one provider. */
async function sesWebhook(): Promise<string> {
  await new Promise<void>((resolve) => certificates.listen(0, '127.0.0.1', resolve));
  SNS.certificateUrl = `http://127.0.0.1:${(certificates.address() as AddressInfo).port}${SNS.certificatePath}`;
  const { admin } = await platform.tenant();
  const email = {
    provider: 'ses',
    from: 'shop@shop.example',
    region: 'us-east-1',
    access_key_id: 'AKIDEXAMPLE000000',
    secret_access_key: 'x',
    topic_arn: SNS.topic,
  };
  const { channels } = await done<{ channels: { email: { webhook_url: string } } }>(
    admin.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { email } } }),
  );
  return channels.email.webhook_url;
}

function moduleOf({ path }: Route): Module {
  return MODULES.find((module) => path.startsWith(`/v1/${module}/`)) ?? 'identity';
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

function authorizationOf({ authorization }: Route): Record<string, string> {
  if (authorization === 'member_token') return { authorization: `Bearer ${credentials.memberToken}` };
  return authorization === undefined ? { authorization: `Bearer ${mine.adminKey}` } : {};
}

interface Sent {
  readonly query?: string;
  readonly body?: string;
  readonly type?: string;
  /** Beside the credential, or in its place. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends what no client library would let through, as it is. Where there are few places at once, the call is made again
 * until there is one; that of a stream which was left is free once the server has noticed.
 * @returns the status
 */
async function send(route: Route, sent: Sent): Promise<number> {
  for (;;) {
    const status = await sendOnce(route, sent);
    if (status !== 429 || !OF_FEW_PLACES.includes(route.path)) return status;
    await pause(20);
  }
}

function sendOnce(route: Route, { query, body, type = 'application/json', headers }: Sent): Promise<number> {
  const path = route.path.replaceAll(/\{\w+\}/g, randomUUID());
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      platform.url,
      {
        method: route.method,
        path: query === undefined ? path : `${path}?${query}`,
        headers: {
          ...authorizationOf(route),
          ...(body === undefined
            ? {}
            : {
                'content-type': type,
                'content-length': Buffer.byteLength(body),
                'idempotency-key': randomUUID(),
              }),
          ...headers,
        },
      },
      (answer) => {
        const { statusCode: status = 0, headers: told } = answer;
        answer.resume().once('close', () => resolve(status));
        // What lasts has been answered with its first byte.
        if (told['content-type']?.startsWith('text/event-stream')) answer.destroy();
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}

/** What a text needs to show a square is less than what a list needs, whose items are several bytes each. */
const TEXT_SHARE = FULL ? 1 : 1 / 3;

function bodyCalls(route: BodyRoute, shape: Shape, share: number): Call[] {
  const room = (route.limit - JSON.stringify(route.example).length - 200) * share;
  const text = TEXTS.find((one) => one === shape);
  const value = shape.of(text ? room * TEXT_SHARE : room);
  const whole = [undefined, ...route.fields].map((field) => hostileBody(route, field?.path, value));
  // What is within its bounds is looked at by more than its bounds.
  const bounded = route.fields.flatMap(({ path, maxLength, maxItems }) => {
    if (text && maxLength !== undefined)
      return [
        hostileBody(
          route,
          path,
          text.of(maxLength * share, ({ length }) => length),
        ),
      ];
    if (Array.isArray(value) && maxItems !== undefined)
      return [hostileBody(route, path, value.slice(0, Math.ceil(maxItems * share)))];
    return [];
  });
  return [...new Set([...whole, ...bounded])].map((body) => () => send(route, { body }));
}

/** Each with its place among all. */
const placed = <T extends Route>(routes: readonly T[]): (T & { place: number })[] =>
  routes.map((route, place) => ({ ...route, place }));
const bodies = placed(bodyRoutes().filter(({ path }) => path !== WEBHOOKS));

describe.each(bodies)('body of $method $path', (route) => {
  it('takes time in proportion to any field filled with any shape', async () => {
    await judge.bodies(nameOf(route), moduleOf(route), meets(SHAPES, route.place), (shape, share) =>
      bodyCalls(route, shape, share),
    );
    await judge.noteHold(nameOf(route), 'in its body', moduleOf(route));
  });
});

const secretOf = (name: string): string => new Map(Object.entries(SECRETS)).get(name) ?? SECRETS.http;

describe.each(PROVIDERS)('webhook of $name', (provider) => {
  const route = {
    method: 'POST',
    path: `/v1/messaging/webhooks/${provider.name}`,
    authorization: 'signature',
  };
  const sendTo = (given: string, secret: string): Promise<number> => {
    const body = provider.sealed?.(secret, given) ?? given;
    const url = webhookUrls[provider.name] ?? '';
    const headers = provider.sign(secret, url, body);
    return send(route, { query: new URL(url).search.slice(1), body, type: provider.contentType, headers });
  };

  it('takes what is signed and refuses what is not', async () => {
    const secret = secretOf(provider.name);
    expect(await sendTo(provider.example, secret)).toBe(200);
    expect(await sendTo(provider.example, SECRETS.http.toLowerCase())).toBe(401);
  });

  it.each(['signed', 'unsigned'])('takes time in proportion to any %s body', async (how) => {
    const right = secretOf(provider.name);
    const secret = how === 'signed' ? right : `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
    await judge.bodies(`${nameOf(route)}, ${how}`, 'messaging', provider.hostile, ({ of }, share) =>
      of(WEBHOOK_LIMIT * share).map((body) => () => sendTo(body, secret)),
    );
  });
});

const TEXTS_OF_HEADS = [...TEXTS, ...PARTS];

/** A text as a header may hold it: other letters as bytes that are none, and blanks not before all else. */
function inHeader(shape: TextShape, share: number): string {
  return shape
    .of(Math.max(1, LONGEST_HEADER * share), ({ length }) => length)
    .replaceAll(/[^\x20-\x7e]/g, '\xff')
    .replace(/^ /, 'x');
}

/** Other letters are all alike in a header. */
const TEXTS_OF_HEADERS = [...new Map(TEXTS_OF_HEADS.map((shape) => [inHeader(shape, 1), shape])).values()];

describe.each(PROVIDERS.filter(({ sealed }) => !sealed))(
  'headers of the webhook of $name',
  ({ name: provider, contentType, sign, example }) => {
    it('takes time in proportion to any header that signs, filled with any shape', async () => {
      const route = {
        method: 'POST',
        path: `/v1/messaging/webhooks/${provider}`,
        authorization: 'signature',
      };
      const query = new URL(webhookUrls[provider] ?? '').search.slice(1);
      const signed = sign(SECRETS.http, '', example);
      const callsOf = (shape: TextShape, share: number): Call[] =>
        Object.keys(signed).map((name) => () => {
          const headers = { ...signed, [name]: inHeader(shape, share) };
          return send(route, { query, body: example, type: contentType, headers });
        });
      await judge.heads(nameOf(route), 'messaging', TEXTS_OF_HEADERS, callsOf);
      await judge.noteHold(nameOf(route), 'in its head', 'messaging');
    });
  },
);

/** As short as it can be written in a query: what need not be escaped is not. */
const inQuery = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replaceAll(/%(?:2[CF]|3[AB]|40|7[BD]|5[BD])/g, decodeURIComponent);

/** A query filled by one of its parameters, by each in turn, and by parameters that nobody asked for. */
function queryCalls(route: QueryRoute, shape: TextShape, share: number): Call[] {
  const room = (LONGEST_QUERY - route.path.length - route.required.length) * share;
  const filled = route.parameters.map((name) => {
    const written = inQuery(name);
    const value = shape.of(Math.max(1, room - written.length), (text) => inQuery(text).length);
    return `${written}=${inQuery(value)}`;
  });
  const repeat = (piece: string): string => piece.repeat(Math.max(1, room / piece.length));
  const [first = ''] = route.parameters;
  const unknown = shape.of(Math.max(1, room), (text) => inQuery(text).length);
  return [
    ...filled,
    inQuery(unknown),
    repeat(`${inQuery(first)}=1&`),
    repeat('&'),
    Array.from({ length: room / 8 }, (_, at) => `n${String(at)}=1`).join('&'),
  ].map((query) => () => send(route, { query: [route.required, query].filter(Boolean).join('&') }));
}

describe.each(placed(queryRoutes()))('query of $method $path', (route) => {
  it('takes time in proportion to any parameter filled with any shape', async () => {
    await judge.heads(nameOf(route), moduleOf(route), meets(TEXTS_OF_HEADS, route.place), (shape, share) =>
      queryCalls(route, shape, share),
    );
    await judge.noteHold(nameOf(route), 'in its query', moduleOf(route));
  });
});

/** How a header begins of which it depends how the rest is read. */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  authorization: ['', 'Bearer ', 'Bearer cpk_live_', 'Basic '],
  'idempotency-key': ['', '"', '"x'],
};

function headerCalls(route: HeaderRoute, name: string, shape: TextShape, share: number): Call[] {
  const body = route.example === undefined ? undefined : JSON.stringify(route.example);
  const value = inHeader(shape, share);
  const written = BEGINNINGS[name] ?? [''];
  return written.map((before) => () => send(route, { body, headers: { [name]: before + value } }));
}

describe.each(placed(headerRoutes()))('headers of $method $path', (route) => {
  it('takes time in proportion to any header filled with any shape', async () => {
    // Each by itself: what one of them costs would be lost among a dozen others.
    for (const name of route.headers)
      await judge.heads(
        `${nameOf(route)}, ${name}`,
        moduleOf(route),
        meets(TEXTS_OF_HEADERS, route.place),
        (shape, share) => headerCalls(route, name, shape, share),
      );
    await judge.noteHold(nameOf(route), 'in a header', moduleOf(route));
  });
});

it('events are taken beside hostile bodies as without them', async () => {
  const hostile = bodyRoutes().find(({ method, path }) => method === 'POST' && path === '/v1/core/contacts');
  const alone = await trackSome();
  let going = true;
  const attack = (async () => {
    while (going && hostile) {
      for (const shape of SHAPES) for (const call of bodyCalls(hostile, shape, 1)) if (going) await call();
    }
  })();
  const beside = await trackSome();
  going = false;
  await attack;
  const p95 = (times: readonly number[]): string =>
    `${([...times].sort((one, other) => one - other)[Math.floor(times.length * 0.95)] ?? NaN).toFixed(0)} ms`;
  process.stdout.write(`\ntrack p95: ${p95(alone)} alone, ${p95(beside)} beside hostile bodies\n`);
});

/** Events one after the other. @returns how long each took, in milliseconds */
async function trackSome(): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < 200; at++) {
    const begun = performance.now();
    const { status } = await mine.ingestion.post('/v1/core/track', {
      event: 'looked',
      external_id: 'somebody',
      idempotency_key: randomUUID(),
      occurred_at: new Date().toISOString(),
    });
    times.push(performance.now() - begun);
    expect(status).toBe(202);
  }
  return times;
}
