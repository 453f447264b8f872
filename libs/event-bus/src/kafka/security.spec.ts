import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { generate } from 'selfsigned';
import { aBus, aDatabase, anIsolatedKafka, eventually, reading } from '../../test/a-bus.js';
import { OwnBroker } from '../../test/own-broker.js';
import { RecordConsumers } from '../consuming/record.consumers.js';
import { RecordProducer } from '../producing/record.producer.js';
import { kafkaSecurity } from './security.js';

const PASSWORD = 'a-password-of-the-test';
const LISTENER = 'listener.name.sasl_ssl';
const MODULES = 'org.apache.kafka.common.security';

let database: Awaited<ReturnType<typeof aDatabase>>;
let broker: OwnBroker;
let address: string;
let authority: string;
let tokens: Server;
let askedForTokens: string[] = [];

/** A token that is not signed, as the broker of the test accepts it (RFC 7515, `alg: none`). */
function unsignedToken(): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1_000);
  return `${part({ alg: 'none' })}.${part({ sub: 'platform', iat: now - 10, exp: now + 3_600 })}.`;
}

beforeAll(async () => {
  database = await aDatabase();
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const key = createPrivateKey(certificate.private).export({ type: 'pkcs8', format: 'pem' }).toString();
  broker = await OwnBroker.prepare({
    format: ['--add-scram', `SCRAM-SHA-512=[name=platform,password=${PASSWORD}]`],
    settings: ({ port, controllerPort, secondPort, folder }) => ({
      listeners: `PLAINTEXT://127.0.0.1:${String(port)},SASL_SSL://127.0.0.1:${String(secondPort)},CONTROLLER://127.0.0.1:${String(controllerPort)}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${String(port)},SASL_SSL://127.0.0.1:${String(secondPort)}`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': join(folder, 'broker.pem'),
      'sasl.enabled.mechanisms': 'SCRAM-SHA-512,OAUTHBEARER',
      [`${LISTENER}.scram-sha-512.sasl.jaas.config`]: `${MODULES}.scram.ScramLoginModule required;`,
      [`${LISTENER}.oauthbearer.sasl.jaas.config`]: `${MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
    }),
  });
  writeFileSync(join(broker.folder, 'broker.pem'), `${key}${certificate.cert}`);
  authority = join(broker.folder, 'authority.pem');
  writeFileSync(authority, certificate.cert);
  await broker.start();
  address = `127.0.0.1:${String(broker.secondPort)}`;
  tokens = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      askedForTokens.push(`${request.headers.authorization ?? ''} ${body}`);
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ access_token: unsignedToken(), token_type: 'Bearer', expires_in: 3_600 }),
      );
    });
  });
  await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve));
}, 180_000);
afterAll(async () => {
  await new Promise((resolve) => tokens.close(resolve));
  await broker.remove();
  await database.drop();
}, 60_000);

const VARIABLES = [
  'TLS',
  'TLS_CA_FILE',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
  'SASL_MECHANISM',
  'SASL_USERNAME',
  'SASL_PASSWORD',
];
const OAUTH_VARIABLES = ['TOKEN_FILE', 'TOKEN_URL', 'CLIENT_ID', 'CLIENT_SECRET', 'SCOPE', 'EXTENSIONS'];

/** Sets these of the variables of security, without `KAFKA_`, and no other. */
function given(values: Record<string, string>): void {
  const names = [...VARIABLES, ...OAUTH_VARIABLES.map((name) => `OAUTH_${name}`)];
  for (const name of names) Reflect.deleteProperty(process.env, `KAFKA_${name}`);
  for (const [name, value] of Object.entries(values)) process.env[`KAFKA_${name}`] = value;
}
afterEach(() => {
  given({});
  process.env['PLATFORM_MODE'] = 'local';
});

/** Starts an app, sends, consumes, and holds what was written against what a reader of the plain listener sees. */
async function sendAndConsume(topic: string): Promise<void> {
  anIsolatedKafka(address);
  const app: INestApplication = await aBus([], { role: 'api' });
  const seen: string[] = [];
  try {
    await eventually(() => app.get(RecordProducer).send(topic, { key: 'a', value: 'over TLS' }), 30_000);
    app.get(RecordConsumers).consume({
      topic,
      group: topic,
      eachChunk: (records) => {
        seen.push(...records.map(({ value }) => value.toString()));
        return Promise.resolve();
      },
    });
    await eventually(() => {
      expect(seen).toContain('over TLS');
    }, 30_000);
  } finally {
    await app.close();
  }
  given({});
  process.env['KAFKA_BROKERS'] = broker.address;
  const plain = await reading(topic);
  await eventually(() => {
    expect(plain.messages.map(({ value }) => value)).toContain('over TLS');
  }, 30_000);
  await plain.stop();
}

const scram = (): Record<string, string> => ({
  TLS: 'true',
  TLS_CA_FILE: authority,
  SASL_MECHANISM: 'scram-sha-512',
  SASL_USERNAME: 'platform',
  SASL_PASSWORD: PASSWORD,
});

describe('a broker with TLS and SASL', () => {
  it('takes records by SCRAM, and gives them', async () => {
    given(scram());
    await sendAndConsume('spec.scram');
  }, 120_000);

  it('takes records by OAUTHBEARER, with a token for client credentials that is asked for once', async () => {
    askedForTokens = [];
    const { port } = tokens.address() as AddressInfo;
    given({
      TLS: 'true',
      TLS_CA_FILE: authority,
      SASL_MECHANISM: 'oauthbearer',
      OAUTH_TOKEN_URL: `http://127.0.0.1:${String(port)}/token`,
      OAUTH_CLIENT_ID: 'platform',
      OAUTH_CLIENT_SECRET: 'of the client',
      OAUTH_SCOPE: 'kafka',
    });
    await sendAndConsume('spec.oauth');
    const basic = Buffer.from('platform:of%20the%20client').toString('base64');
    expect(askedForTokens).toEqual([`Basic ${basic} grant_type=client_credentials&scope=kafka`]);
  }, 120_000);

  it('takes records by OAUTHBEARER, with a token from a file', async () => {
    const file = join(broker.folder, 'token');
    writeFileSync(file, `${unsignedToken()}\n`);
    given({ TLS: 'true', TLS_CA_FILE: authority, SASL_MECHANISM: 'oauthbearer', OAUTH_TOKEN_FILE: file });
    await sendAndConsume('spec.token-file');
  }, 120_000);

  it('refuses the start with a wrong password, in a sentence that does not show it', async () => {
    given({ ...scram(), SASL_PASSWORD: 'not-the-password' });
    anIsolatedKafka(address);
    const start = aBus([], { role: 'api' });
    await expect(start).rejects.toThrow(
      /^Kafka refuses the credentials of KAFKA_SASL_\* \(scram-sha-512\): .*[Aa]uthentication failed/,
    );
    await expect(start).rejects.not.toThrow(/not-the-password/);
  }, 60_000);

  it('refuses the start when the certificate is not trusted', async () => {
    const { TLS_CA_FILE: _, ...untrusting } = scram();
    given(untrusting);
    anIsolatedKafka(address);
    await expect(aBus([], { role: 'api' })).rejects.toThrow(
      /^The certificate of Kafka is not trusted; see KAFKA_TLS_CA_FILE/,
    );
  }, 60_000);
});

describe('what the environment says of security', () => {
  it.each([
    [{ SASL_MECHANISM: 'gssapi' }, /KAFKA_SASL_MECHANISM must be one of plain, scram-sha-256/],
    [{ SASL_MECHANISM: 'scram-sha-512' }, /needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD/],
    [{ TLS: 'yes' }, /KAFKA_TLS must be true or false/],
    [{ TLS_CA_FILE: '/nowhere' }, /KAFKA_TLS is not true/],
    [{ TLS: 'true', TLS_CA_FILE: '/nowhere' }, /The file of KAFKA_TLS_CA_FILE cannot be read/],
    [{ TLS: 'true', TLS_CERT_FILE: '/nowhere' }, /need each other/],
    [
      { TLS: 'true', SASL_MECHANISM: 'oauthbearer', OAUTH_TOKEN_URL: 'http://x' },
      /needs KAFKA_OAUTH_TOKEN_FILE, or/,
    ],
  ])('%o is refused', (values, sentence) => {
    given(values);
    expect(() => kafkaSecurity()).toThrow(sentence);
  });

  it('in production speaks to no broker that does not ask who writes', () => {
    given({ TLS: 'true' });
    process.env['PLATFORM_MODE'] = 'production';
    expect(() => kafkaSecurity()).toThrow(/KAFKA_ALLOW_UNAUTHENTICATED=true/);
  });

  it('sends no password in plain text in production', () => {
    given({ SASL_MECHANISM: 'plain', SASL_USERNAME: 'a', SASL_PASSWORD: 'b' });
    process.env['PLATFORM_MODE'] = 'production';
    expect(() => kafkaSecurity()).toThrow(/needs KAFKA_TLS=true/);
  });

  it('is nothing unless something is set', () => {
    given({});
    expect(kafkaSecurity()).toEqual({});
  });
});
