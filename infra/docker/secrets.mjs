/**
 * Everything secret that the platform needs, made anew: passwords of the databases, keys that the modules sign with,
 * and the keys of what they keep. No dependency: it also runs where nothing is installed.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';

export const MODULES = ['core', 'crm', 'identity', 'messaging', 'loyalty'];

/** What modules read of a Secret beside what is made here: empty, which is as good as absent, until somebody sets it. */
const OPTIONAL = {
  all: ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET'],
  core: ['REDIS_URL', 'IMPORT_S3_ACCESS_KEY_ID', 'IMPORT_S3_SECRET_ACCESS_KEY'],
  messaging: ['PLATFORM_SMTP_URL', 'PROVIDER_SECRET'],
};

const text = () => randomBytes(32).toString('base64url');

function signingKey(module, number) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const stamp = { kid: `${module}-${number}`, alg: 'EdDSA', use: 'sig' };
  return {
    private: { ...privateKey.export({ format: 'jwk' }), ...stamp },
    public: { ...publicKey.export({ format: 'jwk' }), ...stamp },
  };
}

/** Secrets by module, and those of the platform as a whole. */
export function makeSecrets() {
  const keys = Object.fromEntries(MODULES.map((module) => [module, signingKey(module, 1)]));
  const modules = Object.fromEntries(
    MODULES.map((module) => [
      module,
      {
        OWNER_PASSWORD: text(),
        APP_PASSWORD: text(),
        SERVICE_PRIVATE_KEY: JSON.stringify(keys[module].private),
        CURSOR_SECRET: text(),
        ENCRYPTION_KEY: randomBytes(32).toString('base64'),
        ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
        ...(module === 'messaging' ? { ADDRESS_PEPPERS: text() } : {}),
        ...(module === 'loyalty' ? { LEDGER_KEY: text() } : {}),
      },
    ]),
  );
  return {
    platform: {
      POSTGRES_PASSWORD: text(),
      SERVICE_PUBLIC_KEYS: JSON.stringify({ keys: MODULES.map((module) => keys[module].public) }),
    },
    modules,
  };
}

/** What replaces a module's service key: its next key, and the public set with that key beside those it has. */
export function nextServiceKey(module, publicKeys) {
  const { keys } = JSON.parse(publicKeys);
  const numbers = keys.map(({ kid }) => kid.split('-')).filter(([name]) => name === module);
  if (numbers.length === 0) throw new Error(`The public set has no key of ${module}.`);
  const next = signingKey(module, Math.max(...numbers.map(([, number = '0']) => Number(number))) + 1);
  return {
    SERVICE_PUBLIC_KEYS: JSON.stringify({ keys: [...keys, next.public] }),
    SERVICE_PRIVATE_KEY: JSON.stringify(next.private),
  };
}

/** Lines of a file that Docker Compose reads; quoted, for the keys are JSON. */
export function composeEnvironment({ platform, modules }) {
  const lines = Object.entries(platform).map(([name, value]) => `${name}='${value}'`);
  for (const [module, secrets] of Object.entries(modules))
    for (const [name, value] of Object.entries(secrets))
      lines.push(`${module.toUpperCase()}_${name}='${value}'`);
  return `${lines.join('\n')}\n`;
}

/** For each Secret of Kubernetes, the lines of the file that kustomize makes it from. */
export function kubernetesSecrets({ platform, modules }, postgresHost = 'postgres') {
  const address = (role, password, module) => `postgres://${role}:${password}@${postgresHost}:5432/${module}`;
  const files = { 'service-keys': { SERVICE_PUBLIC_KEYS: platform.SERVICE_PUBLIC_KEYS } };
  const provisioning = { POSTGRES_PASSWORD: platform.POSTGRES_PASSWORD };
  for (const [module, { OWNER_PASSWORD, APP_PASSWORD, ...secrets }] of Object.entries(modules)) {
    const optional = [...OPTIONAL.all, ...(OPTIONAL[module] ?? [])].map((name) => [name, '']);
    files[`${module}-secrets`] = {
      DATABASE_URL: address(`${module}_app`, APP_PASSWORD, module),
      ...secrets,
      ...Object.fromEntries(optional),
    };
    files[`${module}-owner`] = { DATABASE_OWNER_URL: address(`${module}_owner`, OWNER_PASSWORD, module) };
    provisioning[`${module.toUpperCase()}_OWNER_PASSWORD`] = OWNER_PASSWORD;
    provisioning[`${module.toUpperCase()}_APP_PASSWORD`] = APP_PASSWORD;
  }
  files['postgres-provisioning'] = provisioning;
  return Object.fromEntries(
    Object.entries(files).map(([name, values]) => [
      name,
      Object.entries(values)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(''),
    ]),
  );
}
