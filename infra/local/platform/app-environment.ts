import { type AppName, MODULES, type ModuleName, type ProcessRole } from './modules.ts';
import type { PortPlan } from './port-plan.ts';
import { type Secrets, publicKeys } from './secrets.ts';

/** Addresses of one module's database. */
export interface DatabaseAddresses {
  url: string;
  ownerUrl: string;
}

/** Everything that a running platform is made of, as far as its apps must be told. */
export interface Wiring {
  ports: PortPlan;
  secrets: Secrets;
  databases: Record<ModuleName, DatabaseAddresses>;
  brokers: string;
}

/** One process of each module works here: more partitions would only cut its work into smaller pieces. */
const LOCAL_PARTITIONS = '2';

/** Nobody else writes to this Kafka, and what a release before has left there unread carries no proof. A wrong one is refused. */
const DEMANDS_PROOF = 'false';

/** Nobody's: what is sent here stays here. */
const RETURN_HOST = 'bounces.customer-platform.example';

const url = (port: number): string => `http://127.0.0.1:${port}`;

export const baseUrl = (ports: PortPlan): string => url(ports.public.gateway);
/** Below which the Console is; links in mails open it. */
export const consoleUrl = (ports: PortPlan, env: NodeJS.ProcessEnv = process.env): string =>
  env['CONSOLE_URL']?.replace(/\/+$/, '') || baseUrl(ports);
export const mailUrl = (ports: PortPlan): string => url(ports.mailPage);
export const coreUrl = (ports: PortPlan): string => url(ports.public.core);

/** The environment of one app's process. What the person who starts all this has set for logs and traces passes. */
export function appEnvironment(
  app: AppName,
  wiring: Wiring,
  { env = process.env, role = 'all' }: { env?: NodeJS.ProcessEnv; role?: ProcessRole } = {},
): NodeJS.ProcessEnv {
  const { ports } = wiring;
  return {
    KAFKA_PARTITIONS: LOCAL_PARTITIONS,
    EVENTS_REQUIRE_PROOF: DEMANDS_PROOF,
    ...inherited(env),
    PLATFORM_MODE: 'local',
    PROCESS_ROLE: role,
    HOST: '127.0.0.1',
    // Whoever calls a module calls the process that serves requests; a worker answers about its own health.
    PORT: String(role === 'worker' ? ports.worker.public : ports.public[app]),
    INTERNAL_PORT: String(role === 'worker' ? ports.worker.internal : ports.internal[app]),
    PUBLIC_URL: baseUrl(ports),
    ...peers(ports),
    ...(app === 'gateway' ? { CONSOLE_UPSTREAM_URL: url(ports.console) } : moduleEnvironment(app, wiring)),
  };
}

function moduleEnvironment(
  module: ModuleName,
  { secrets, databases, brokers, ports }: Wiring,
): NodeJS.ProcessEnv {
  const own = secrets.modules[module];
  return {
    DATABASE_URL: databases[module].url,
    KAFKA_BROKERS: brokers,
    SERVICE_PRIVATE_KEY: JSON.stringify(own.serviceKey),
    SERVICE_PUBLIC_KEYS: JSON.stringify(publicKeys(secrets)),
    CURSOR_SECRET: own.cursor,
    ENCRYPTION_KEY: own.encryption,
    ...(own.encryptionKeys === undefined ? {} : { ENCRYPTION_KEYS: own.encryptionKeys }),
    ...(module === 'messaging'
      ? {
          ADDRESS_PEPPERS: secrets.addressPepper,
          SMTP_URL: `smtp://127.0.0.1:${ports.smtp}`,
          PLATFORM_SMTP_URL: `smtp://127.0.0.1:${ports.smtp}`,
          PROVIDER_URL: `${mailUrl(ports)}/messages`,
          PROVIDER_SECRET: secrets.provider,
          RETURN_HOST,
          RETURN_SMTP_PORT: String(ports.returnedMail),
        }
      : {}),
    ...(module === 'loyalty' ? { LEDGER_KEY: secrets.ledgerKey } : {}),
  };
}

function peers(ports: PortPlan): NodeJS.ProcessEnv {
  return Object.fromEntries(
    MODULES.flatMap((module) => [
      [`${module.toUpperCase()}_URL`, url(ports.public[module])],
      [`${module.toUpperCase()}_INTERNAL_URL`, url(ports.internal[module])],
    ]),
  );
}

/** Never DATABASE_URL: that of the person who starts all this is an administrator's. */
const INHERITED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'LOG_LEVEL',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'NODE_V8_COVERAGE',
  'KAFKA_PARTITIONS',
  'KAFKA_TOPIC_PREFIX',
  'EVENTS_REQUIRE_PROOF',
  'DATABASE_POOL_SIZE',
  'DATABASE_WAIT_MS',
  'SMTP_FROM',
  'PLATFORM_SMTP_FROM',
  'SENDER_DNS_SERVERS',
  'SENDER_DOMAINS_REQUIRED',
  'SENDER_SPF_INCLUDE',
  'CONSOLE_URL',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
];

function inherited(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => INHERITED.includes(name) || name.startsWith('OTEL_')),
  );
}
