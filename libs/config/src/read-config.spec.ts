import { z } from 'zod';
import {
  commaList,
  ConfigError,
  databaseConfig,
  encryptionConfig,
  importBucketConfig,
  keyringOf,
  kafkaConfig,
  peersConfig,
  readConfig,
  secretsConfig,
  serviceConfig,
} from './index.js';

describe('readConfig', () => {
  it('gives defaults for what may be absent, and takes an empty variable as absent', () => {
    const config = readConfig(serviceConfig, { PORT: '', LOG_LEVEL: 'warn' });
    expect(config).toMatchObject({ PORT: 0, HOST: '127.0.0.1', PROCESS_ROLE: 'all', LOG_LEVEL: 'warn' });
  });

  it('names every bad variable in one sentence and never shows a value', () => {
    const env = {
      DATABASE_URL: 'mysql://root:hunter2@db',
      DATABASE_POOL_SIZE: 'many',
      KAFKA_BROKERS: 'b:9092',
    };
    const read = () => readConfig(databaseConfig.extend(kafkaConfig.shape).extend(peersConfig.shape), env);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/^The environment is incomplete: .*\.$/);
    for (const name of [
      'DATABASE_URL must be a postgres',
      'DATABASE_POOL_SIZE must be',
      'CRM_INTERNAL_URL is missing',
    ]) {
      expect(read).toThrow(name);
    }
    expect(read).not.toThrow(/hunter2|many|KAFKA_BROKERS/);
  });

  it.each(['-1', '65536', '80.5', '8e3', ' 80', 'http'])('refuses the port %s', (PORT) => {
    expect(() => readConfig(serviceConfig, { PORT })).toThrow('PORT must be a whole number from 0 to 65535');
  });

  it('cuts the slash at the end of an address', () => {
    expect(
      readConfig(peersConfig.pick({ CORE_INTERNAL_URL: true }), { CORE_INTERNAL_URL: 'http://core:1/' }),
    ).toEqual({
      CORE_INTERNAL_URL: 'http://core:1',
    });
  });

  it.each(['ftp://core', 'core:1', '//core'])('refuses the address %s', (CORE_INTERNAL_URL) => {
    const read = () => readConfig(peersConfig.pick({ CORE_INTERNAL_URL: true }), { CORE_INTERNAL_URL });
    expect(read).toThrow('CORE_INTERNAL_URL must be an http:// or https:// address');
  });

  it('splits a list', () => {
    expect(readConfig(z.object({ LIST: commaList() }), { LIST: ' a, b,,c ' })).toEqual({
      LIST: ['a', 'b', 'c'],
    });
    expect(() => readConfig(z.object({ LIST: commaList() }), { LIST: ',' })).toThrow(
      'LIST must hold at least one',
    );
  });

  it('reads a key of 32 bytes and no other', () => {
    const key = Buffer.alloc(32, 7);
    expect(readConfig(encryptionConfig, { ENCRYPTION_KEY: key.toString('base64') }).ENCRYPTION_KEY).toEqual(
      key,
    );
    expect(() => readConfig(encryptionConfig, { ENCRYPTION_KEY: 'c2hvcnQ=' })).toThrow(
      'must be 32 bytes in base64',
    );
  });

  it('reads keys given as JSON', () => {
    const publicKey = { kty: 'OKP', crv: 'Ed25519', x: 'x', kid: 'core' };
    const config = readConfig(secretsConfig, {
      SERVICE_PRIVATE_KEY: JSON.stringify({ ...publicKey, d: 'd' }),
      SERVICE_PUBLIC_KEYS: JSON.stringify({ keys: [publicKey] }),
      CURSOR_SECRET: 'c'.repeat(32),
    });
    expect(config.SERVICE_PRIVATE_KEY.kid).toBe('core');
    expect(config.SERVICE_PUBLIC_KEYS.keys).toHaveLength(1);
  });

  it.each(['{', '{}', '{"kty":"RSA","kid":"core"}', 'null'])(
    'refuses the private key %s',
    (SERVICE_PRIVATE_KEY) => {
      const read = () =>
        readConfig(secretsConfig.pick({ SERVICE_PRIVATE_KEY: true }), { SERVICE_PRIVATE_KEY });
      expect(read).toThrow('SERVICE_PRIVATE_KEY must be an Ed25519 private JWK with a kid');
    },
  );
});

describe('ENCRYPTION_KEYS', () => {
  const [one, two] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const read = (list: string) =>
    keyringOf(readConfig(encryptionConfig, { ENCRYPTION_KEY: String(one), ENCRYPTION_KEYS: list }));

  it('is a list of keys with ids, the first of which seals; absent, ENCRYPTION_KEY does', () => {
    const { root, sealing } = read(`b:${String(two)}, a-1:${String(one)}`);
    expect(root).toEqual(Buffer.alloc(32, 1));
    expect(sealing).toEqual([
      { id: 'b', key: Buffer.alloc(32, 2) },
      { id: 'a-1', key: Buffer.alloc(32, 1) },
    ]);
    expect(read('').sealing).toEqual([]);
  });

  it.each([
    ['a key without an id', String(one)],
    ['an id with a dot', `a.b:${String(one)}`],
    ['a short key', 'a:AAAA'],
    ['an id twice', `a:${String(one)},a:${String(two)}`],
    ['nothing between commas', `a:${String(one)},`],
  ])('refuses %s, and shows none', (_, list) => {
    expect(() => read(list)).toThrow(/ENCRYPTION_KEYS must be id:key pairs/);
    expect(() => read(list)).not.toThrow(String(one));
  });
});

describe('the bucket of imports', () => {
  const named = { IMPORT_S3_BUCKET: 'files', IMPORT_S3_REGION: 'us-east-1', IMPORT_S3_PREFIX: 'of/tests/' };
  const read = (more: Record<string, string>) => () => readConfig(importBucketConfig, { ...named, ...more });

  it('has credentials of its own, or none', () => {
    expect(read({})()).toEqual({ ...named, IMPORT_S3_PATH_STYLE: false });
    const own = { IMPORT_S3_ACCESS_KEY_ID: 'a', IMPORT_S3_SECRET_ACCESS_KEY: 'b' };
    expect(read(own)()).toMatchObject(own);
    for (const [one, other] of [Object.keys(own), Object.keys(own).reverse()])
      expect(read({ [one ?? '']: 'a' })).toThrow(`${other ?? ''} is missing`);
  });

  it('is shared with another installation by nobody who has not said so', () => {
    const { IMPORT_S3_PREFIX: _, ...rest } = named;
    expect(() => readConfig(importBucketConfig, rest)).toThrow('IMPORT_S3_PREFIX is missing');
  });

  it.each(['imports', '/imports/', 'a b/'])('has no names that begin with %s', (IMPORT_S3_PREFIX) => {
    expect(read({ IMPORT_S3_PREFIX })).toThrow('IMPORT_S3_PREFIX must be names');
  });
});
