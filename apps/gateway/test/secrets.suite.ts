import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { EventBusModule, TopicReader, Topics } from '@customer-platform/event-bus';
import {
  eventually,
  requiredVariable,
  MODULES,
  START_WITHIN_MS,
  totpCode,
  type PlatformUnderTest,
  type Tenant,
} from '@customer-platform/testing';
import { prepareChain, sendPurchase } from './chain.fixture.js';
import { done, idOf, newSupporter, obtainCredentials, PASSWORD } from './credentials.fixture.js';
import { operatedPlatform } from './operated-platform.fixture.js';
import { holdsPrivateKey, setUpProviders, signMail } from './provider-secrets.fixture.js';

/** Where a secret may have been left, and all the text there. */
type Places = Map<string, string>;

let platform: PlatformUnderTest;
let tenant: Tenant;
/** Everything that was shown once, or written never to be read back, by what it is. */
const secrets = new Map<string, string>();
/** Stands in a contact's name and in an event: what is to be found shows that the search finds. */
const marker = `marker-${randomUUID()}`;
let places: Places;

const SIGNING_DOMAIN = `${randomUUID()}.shop.example`;
const WAITING = 'SELECT count(*)::int AS waiting FROM outbox';
const again = () => ({ 'Idempotency-Key': randomUUID() });

function keep(name: string, secret: string | undefined): string {
  if (!secret) throw new Error(`There is no ${name}`);
  secrets.set(name, secret);
  return secret;
}

async function makeSecrets(): Promise<void> {
  keep('key of an administrator', tenant.adminKey);
  keep('key of ingestion', tenant.ingestionKey);
  const credentials = await obtainCredentials(platform, tenant);
  keep('password', PASSWORD);
  keep('access token', credentials.userToken);
  keep('member token', credentials.memberToken);
  keep('tenant token', credentials.tenantToken);
  keep('token of an accepted invitation', credentials.acceptedToken);
  keep('token of a pending invitation', credentials.invitationToken);
  await makeKeys();
  await enrol(credentials.userToken);
  await actAs(credentials.userToken);
  await setUpMessaging();
  await setUpProviders(platform, keep);
  await signMail(platform, keep, SIGNING_DOMAIN);
}

async function makeKeys(): Promise<void> {
  const { admin } = tenant;
  const role = { name: 'Reader', kind: 'machine', permissions: ['core.contacts.read'] };
  const { id: role_id } = await done<{ id: string }>(admin.post('/v1/identity/roles', role));
  const keys = '/v1/identity/api-keys';
  const made = await done<{ id: string; key: string }>(admin.post(keys, { name: 'K', role_id }, again()));
  keep('API key', made.key);
  const rotated = await done<{ key: string }>(admin.post(`${keys}/${made.id}/rotate`, {}, again()));
  keep('rotated API key', rotated.key);
  const child = { name: 'Below', slug: `below-${randomUUID().slice(0, 8)}`, issue_api_key: true };
  const founded = await done<{ api_key: { key: string } }>(
    admin.post('/v1/identity/organizations', child, again()),
  );
  keep('first key of an organization', founded.api_key.key);
}

async function enrol(userToken: string): Promise<void> {
  const user = platform.as(userToken);
  const factor = await done<{ factor_id: string; secret: string; otpauth_uri: string }>(
    user.post('/v1/identity/mfa/enroll', { type: 'totp', name: 'Phone' }, again()),
  );
  keep('TOTP secret', factor.secret);
  keep('TOTP address', factor.otpauth_uri);
  const body = { factor_id: factor.factor_id, code: totpCode(factor.secret) };
  const verified = await done<{ recovery_codes: string[] }>(
    user.post('/v1/identity/mfa/verify', body, again()),
  );
  for (const [at, code] of verified.recovery_codes.entries()) keep(`recovery code ${String(at + 1)}`, code);
  const renewed = await done<{ recovery_codes: string[] }>(
    user.post('/v1/identity/mfa/recovery-codes', undefined, again()),
  );
  keep('new recovery code', renewed.recovery_codes[0]);
}

async function actAs(userToken: string): Promise<void> {
  const actor = await newSupporter(platform, tenant);
  const body = { user_id: await idOf(platform.as(userToken)), reason: 'Ticket 4711: something is lost.' };
  const path = '/v1/identity/impersonations';
  const begun = await done<{ access_token: string }>(actor.post(path, body, again()));
  keep('token of an impersonation', begun.access_token);
  await done(platform.as(begun.access_token).get('/v1/crm/notes'));
}

async function setUpMessaging(): Promise<void> {
  const secret = (): string => randomBytes(24).toString('base64url');
  const password = keep('password of a mail server', secret());
  const [token, push] = [
    keep('token of an SMS provider', secret()),
    keep('secret of a push server', `whsec_${randomBytes(24).toString('base64')}`),
  ];
  const body = {
    channels: {
      email: {
        enabled: true,
        provider: 'smtp',
        from: 'Shop <hello@shop.example>',
        host: 'smtp.shop.example',
        username: 'shop',
        password,
      },
      sms: {
        enabled: true,
        provider: 'twilio',
        from: '+56961234567',
        account_sid: `AC${'0'.repeat(32)}`,
        auth_token: token,
      },
      push: { enabled: true, provider: 'http', url: 'https://push.example.com/messages', secret: push },
    },
  };
  await done(tenant.admin.call('PUT', '/v1/messaging/channel-settings', { body }));
  const endpoint = await done<{ secret: string }>(
    tenant.admin.post(
      '/v1/messaging/webhook-endpoints',
      { name: 'Shop', url: 'http://127.0.0.1:9/hooks', events: ['core.contact.created'] },
      again(),
    ),
  );
  keep('secret of a webhook endpoint', endpoint.secret);
}

/** The last event: once it is in the outboxes' topics, everything before it is, too. */
async function leaveMarker(): Promise<void> {
  await done(tenant.admin.post('/v1/core/contacts', { external_id: marker, first_name: marker }));
  const { externalId } = await sendPurchase(tenant.ingestion);
  await eventually(
    async () => {
      const counted = await Promise.all(
        MODULES.map((module) => platform.query<{ waiting: number }>(module, WAITING)),
      );
      const queued = counted.flat().reduce((sum, { waiting }) => sum + waiting, 0);
      const found = await tenant.admin.get<{ data: object[] }>(`/v1/core/events?external_id=${externalId}`);
      expect([queued, found.body.data?.length]).toEqual([0, 2]);
    },
    { within: 60_000 },
  );
}

async function everywhere(): Promise<Places> {
  const found: Places = new Map();
  for (const module of MODULES)
    for (const [table, text] of await tablesOf(module)) found.set(`${module}: table ${table}`, text);
  for (const [app, { log }] of Object.entries(platform.processes)) found.set(`log of ${app}`, log);
  for (const [topic, text] of await topics()) found.set(`topic ${topic}`, text);
  const audit = await done(tenant.admin.get('/v1/core/audit-log?limit=200'));
  found.set('audit log', JSON.stringify(audit));
  return found;
}

/** Every row of every table, as text; bytes are hexadecimal there. */
async function tablesOf(module: (typeof MODULES)[number]): Promise<Places> {
  const tables = await platform.query<{ name: string }>(
    module,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts: Places = new Map();
  for (const { name } of tables) {
    const rows = await platform.query<{ row: string }>(module, `SELECT t::text AS row FROM ${name} t`);
    texts.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return texts;
}

/** Every record of every topic of this platform. */
async function topics(): Promise<Places> {
  const prefix = platform.topicPrefix;
  Object.assign(process.env, {
    PLATFORM_MODE: 'local',
    KAFKA_BROKERS: requiredVariable('TEST_KAFKA_BROKERS'),
    KAFKA_TOPIC_PREFIX: prefix,
  });
  const reader = await NestFactory.createApplicationContext(EventBusModule.forReading({ module: 'core' }), {
    logger: false,
    abortOnError: false,
  });
  try {
    const all = await reader.get(Topics, { strict: false }).withAdmin((admin) => admin.listTopics());
    const texts: Places = new Map();
    for (const name of all.filter((topic) => topic.startsWith(prefix))) {
      const topic = name.slice(prefix.length);
      texts.set(topic, (await reader.get(TopicReader, { strict: false }).readAll(topic)).join('\n'));
    }
    return texts;
  } finally {
    await reader.close();
  }
}

/** A secret as it may have been written: as it is, without its hyphens, and as bytes. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const plain = secret.replaceAll('-', '');
  return [secret, plain, encodeURIComponent(secret), bytes.toString('hex'), bytes.toString('base64')];
}

function placesOf(secret: string): string[] {
  const written = spellings(secret).map((text) => text.toLowerCase());
  return [...places].filter(([, text]) => contains(text.toLowerCase(), written)).map(([place]) => place);
}

function contains(text: string, needles: readonly string[]): boolean {
  return needles.some((needle) => text.includes(needle));
}

describe('the platform, of its secrets', () => {
  beforeAll(async () => {
    platform = await operatedPlatform();
    tenant = await platform.tenant();
    await prepareChain(tenant);
    await makeSecrets();
    await leaveMarker();
    places = await everywhere();
  }, START_WITHIN_MS);

  it('finds what is anywhere: a name that was given to a contact, in tables and in topics', () => {
    const found = placesOf(marker);
    expect(found).toContain('core: table public.contacts');
    expect(found).toContain('topic core.domain-events');
    expect(placesOf(SIGNING_DOMAIN)).toContain('messaging: table public.sender_domains');
  });

  it('finds what was planted, in a table as text and as bytes', async () => {
    const [, secret = ''] = [...secrets][0] ?? [];
    const values = [secret, `${Buffer.from(secret).toString('hex')}`];
    for (const value of values) {
      const before = places;
      places = new Map([...before, ['planted', `(1,"${value}",\\x00)`]]);
      expect(placesOf(secret)).toEqual(['planted']);
      places = before;
    }
  });

  it('reads all there is: databases, logs, topics and the audit log', () => {
    const names = [...places].filter(([, text]) => text !== '').map(([place]) => place);
    for (const module of MODULES) {
      expect(names.some((name) => name.startsWith(`${module}: table`))).toBe(true);
      expect(names).toContain(`log of ${module}`);
    }
    expect(names).toContain('log of gateway');
    for (const topic of ['core.ingestion', 'core.domain-events', 'identity.domain-events'])
      expect(names).toContain(`topic ${topic}`);
    expect(places.get('audit log')).toContain('identity.api_keys.create');
    expect(secrets.size).toBeGreaterThan(36);
  });

  it('leaves no secret in clear anywhere', () => {
    const found = [...secrets].flatMap(([name, secret]) =>
      placesOf(secret).map((place) => `${name} in ${place}`),
    );
    expect(found).toEqual([]);
  });

  it('leaves no private key in clear anywhere', () => {
    expect([...places].filter(([, text]) => holdsPrivateKey(text)).map(([place]) => place)).toEqual([]);
  });

  it('would know a private key, and takes no public one for it', () => {
    const pairs = [
      generateKeyPairSync('rsa', { modulusLength: 2_048 }),
      generateKeyPairSync('ed25519'),
      generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ];
    for (const { privateKey, publicKey } of pairs) {
      const bytes = privateKey.export({ type: 'pkcs8', format: 'der' });
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const forms = [pem, Buffer.from(pem).toString('hex'), bytes.toString('base64'), bytes.toString('hex')];
      expect(forms.map(holdsPrivateKey)).toEqual([true, true, true, true]);
      const known = publicKey.export({ type: 'spki', format: 'der' });
      expect([known.toString('base64'), known.toString('hex')].map(holdsPrivateKey)).toEqual([false, false]);
    }
    expect(holdsPrivateKey(`{"kty":"EC","d":"${'x'.repeat(43)}"}`)).toBe(true);
  });
});
