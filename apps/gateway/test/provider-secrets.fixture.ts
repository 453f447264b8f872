import { createECDH, generateKeyPairSync, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { eventually, type PlatformUnderTest, type Tenant } from '@customer-platform/testing';
import { done } from './credentials.fixture.js';

/** Notes a secret by what it is. */
type Keep = (name: string, secret: string | undefined) => string;

const again = () => ({ 'Idempotency-Key': randomUUID() });

/** One secret of each kind that a provider has, none of which answers: what is logged of that is looked at, too. */
export async function setUpProviders(platform: PlatformUnderTest, keep: Keep): Promise<void> {
  const base_url = 'http://127.0.0.1:9';
  const secret = (name: string): string => keep(name, randomBytes(24).toString('base64url'));
  const from = 'shop@shop.example';
  const twin = createECDH('prime256v1');
  twin.generateKeys();
  const browser = { p256dh: twin.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') };
  const mailgun = {
    provider: 'mailgun',
    domain: 'shop.example',
    from,
    base_url,
    api_key: secret('key of Mailgun'),
    signing_key: secret('signing key of Mailgun'),
  };
  const ses = {
    provider: 'ses',
    region: 'us-east-1',
    access_key_id: 'AKIDEXAMPLE000000',
    from,
    base_url,
    secret_access_key: secret('key of SES'),
  };
  const meta = {
    provider: 'meta',
    phone_number_id: '1',
    base_url,
    access_token: secret('token of Meta'),
    app_secret: secret('secret of an application'),
    verify_token: secret('word of a webhook'),
  };
  const fcm = {
    provider: 'fcm',
    base_url,
    token_url: `${base_url}/token`,
    service_account: serviceAccount(keep),
  };
  const apns = {
    provider: 'apns',
    team_id: 'T1',
    key_id: 'K1',
    topic: 'shop.example',
    base_url,
    private_key: pemOf(keep, 'key of APNs', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  };
  const webpush = {
    provider: 'webpush',
    subject: 'mailto:push@shop.example',
    public_key: twin.getPublicKey('base64url'),
    private_key: keep('key of Web Push', twin.getPrivateKey().toString('base64url')),
  };
  const subscription = JSON.stringify({ endpoint: `${base_url}/wp`, keys: browser });
  await sendBy(platform, { email: mailgun, whatsapp: meta, push: fcm }, 'a-token');
  await sendBy(platform, { email: ses, push: apns }, 'ab'.repeat(32));
  await sendBy(platform, { push: webpush }, subscription);
}

/** A line of it, and what it is named by: how its lines are broken where it is written nobody knows. */
function pemOf(keep: Keep, name: string, key: { export(options: object): string | Buffer }): string {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  keep(name, pem.split('\n')[2]);
  return pem;
}

function serviceAccount(keep: Keep): string {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return JSON.stringify({
    type: 'service_account',
    project_id: 'shop-of-tests',
    private_key_id: keep('name of the key of FCM', randomBytes(20).toString('hex')),
    client_email: 'push@shop-of-tests.iam.gserviceaccount.com',
    private_key: pemOf(keep, 'key of FCM', pair.privateKey),
  });
}

/** A tenant with these channels tries each of them once. */
async function sendBy(
  platform: PlatformUnderTest,
  channels: Record<string, object>,
  token: string,
): Promise<void> {
  const { admin } = await platform.tenant();
  await done(admin.call('PUT', '/v1/messaging/channel-settings', { body: { channels } }));
  const messages: Record<string, [string, object]> = {
    email: ['ana@example.com', { subject: 'Hello', text: 'Hello' }],
    whatsapp: ['+56987654321', { text: 'Hello' }],
    push: [token, { title: 'Hello', body: 'Hello' }],
  };
  for (const channel of Object.keys(channels)) {
    const [address, content] = messages[channel] ?? [];
    await tried(admin, { channel, recipient: { address }, content });
  }
}

async function tried(admin: Tenant['admin'], body: object): Promise<void> {
  const { send_id: id } = await done<{ send_id: string }>(admin.post('/v1/messaging/sends', body, again()));
  await eventually(
    async () => {
      const { body: found } = await admin.get<{ data: { attempts: number }[] }>(
        `/v1/messaging/sends?id=${id}`,
      );
      expect(found.data[0]?.attempts).toBeGreaterThan(0);
    },
    { within: 30_000 },
  );
}

/** Keys by which mail is signed, those before them, and that of the addresses to which it returns. */
export async function signMail(platform: PlatformUnderTest, keep: Keep, domain: string): Promise<void> {
  const { admin } = await platform.tenant();
  const domains = '/v1/messaging/sender-domains';
  const { id } = await done<{ id: string }>(admin.post(domains, { domain }));
  await done(admin.patch(`${domains}/${id}`, { rotate_dkim: true }));
  const root = Buffer.alloc(32, 7);
  const key = Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), 'messaging return paths', 32));
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    keep(`key of return paths, ${encoding}`, key.toString(encoding));
    keep(`root of all keys, ${encoding}`, root.toString(encoding));
  }
  const content = { subject: 'Hello', text: 'Hello' };
  await tried(admin, { channel: 'email', recipient: { address: 'ana@example.com' }, content });
}

/** Of a JWK, of PEM as text and as bytes, and of PKCS #8 within it, which names the algorithm after a version. */
const PRIVATE_KEYS = [
  /"d"\s*:\s*"[\w-]{40,}|""d""\s*:\s*""[\w-]{40,}/i,
  /begin (?:ec |rsa )?private key/i,
  new RegExp(Buffer.from('BEGIN PRIVATE KEY').toString('hex'), 'i'),
  /ibadanbgkqhkig9w0baqef|mc4caqawbqydk2vw|mighageambmgbyqgsm49/i,
  /020100300d06092a864886f70d010101|020100300506032b6570|020100301306072a8648ce3d/i,
];

/** Whether one stands anywhere in a text. */
export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_KEYS.some((pattern) => pattern.test(text));
}
