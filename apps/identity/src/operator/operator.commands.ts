import {
  Argument,
  CommandRefusal,
  EXIT,
  Option,
  withContext,
  type CommandGroup,
  type Given,
  type PlatformCommand,
} from '@customer-platform/cli';
import type { NewOrganization } from '../organizations/organization.founding.js';
import type { RegisteredConsole } from '../oauth-clients/console-client.js';
import { OperatorModule } from './operator.module.js';
import {
  CONSOLE_ADDRESS,
  consoleOption,
  consoleUrlOfEnvironment,
  localeOption,
  nameOption,
  rateOption,
  readSlug,
  slugOption,
  timezoneOption,
} from './operator.options.js';
import { Operator, type EquippedOrganization, type EquippedRoot, type KeyPurpose } from './operator.js';

const ENVIRONMENT = { DATABASE_URL: 'the database of identity, as identity_app; it must be migrated' };

const CONSOLE_ENVIRONMENT = {
  ...ENVIRONMENT,
  CONSOLE_URL: 'the address below which the Console is; PUBLIC_URL unless given',
  PUBLIC_URL: "the gateway's address (http://127.0.0.1:8080)",
};

const withOperator = <T>(work: (operator: Operator) => Promise<T>): Promise<T> =>
  withContext(OperatorModule, (context) => work(context.get(Operator)));

/** `platform organizations bootstrap|recover|create`. */
export const organizations = (): CommandGroup => ({
  name: 'organizations',
  summary: 'found organizations and issue their first keys',
  commands: [bootstrap(), recover(), create()],
});

/** `platform keys revoke`. */
export const keys = (): CommandGroup => ({
  name: 'keys',
  summary: 'API keys',
  commands: [
    {
      name: 'revoke',
      summary: 'ends an API key, which is refused everywhere within a second',
      details:
        'A key itself is never taken as an argument, where other users of the machine could read it. The JSON is\n' +
        '{"id", "revoked"}; "revoked" is false if the key had ended before.',
      argument: new Argument(
        '<key-id>',
        'the id of the key; - reads the key itself from standard input, one line',
      ),
      environment: ENVIRONMENT,
      run: async ({ argument, print }) => {
        const named = argument === '-' ? await readLine() : argument;
        const ended = await withOperator((operator) => operator.revokeKey(named));
        print(ended, ended.revoked ? `Revoked ${ended.id}` : `${ended.id} had ended before`);
        return EXIT.done;
      },
    },
  ],
});

/** `platform factors reset`. */
export const factors = (): CommandGroup => ({
  name: 'factors',
  summary: 'second factors of users',
  commands: [reset()],
});

function reset(): PlatformCommand<{ user: string }> {
  return {
    name: 'reset',
    summary: 'takes all second factors and recovery codes of a user away, and ends the sessions of the user',
    details:
      'For who has lost them, once it is certain who asks: the password alone lets in afterwards. The audit row is in\n' +
      'the home organization of the user. The JSON is {"user_id", "factors", "recovery_codes"}: how many there were.',
    options: [new Option('--user <email>', 'the address by which the user signs in').makeOptionMandatory()],
    environment: ENVIRONMENT,
    run: async ({ values: { user: email }, print }) => {
      const { userId, ...removed } = await withOperator((operator) => operator.resetFactors(email));
      const { factors: count, recoveryCodes } = removed;
      print(
        { user_id: userId, factors: count, recovery_codes: recoveryCodes },
        `Took ${String(count)} factors and ${String(recoveryCodes)} recovery codes from ${userId}, and ended the sessions`,
      );
      return EXIT.done;
    },
  };
}

/** `platform sessions end-all`. */
export const sessions = (): CommandGroup => ({
  name: 'sessions',
  summary: 'sessions of users',
  commands: [
    {
      name: 'end-all',
      summary: 'ends every session and impersonation of all organizations: everybody signs in anew',
      details:
        'For a database that was restored to an earlier moment, before identity serves requests again. Repeatable;\n' +
        'interrupted, start it again. The JSON is {"ended"}.',
      environment: ENVIRONMENT,
      run: async ({ print }) => {
        const ended = await withOperator((operator) => operator.endAllSessions());
        print({ ended }, `Ended ${String(ended)} sessions`);
        return EXIT.done;
      },
    },
  ],
});

/** `platform console`. */
export const consoleClient = (): PlatformCommand<{ url?: string }> => ({
  name: 'console',
  summary: "registers the Console as the root's own client, at the address where it is",
  details:
    'Bootstrap does so too. Repeatable: where the address has changed the client is sent to the new one and no more to\n' +
    'the former; a deleted one is brought back. The JSON is {"client_id", "redirect_uris", "post_logout_redirect_uris",\n' +
    '"changed"}.',
  options: [consoleOption('--url <url>')],
  environment: CONSOLE_ENVIRONMENT,
  run: async ({ values, print }) => {
    const url = values.url ?? consoleUrlOfEnvironment();
    if (url === undefined)
      throw new CommandRefusal(
        `Nobody can be sent to the address of CONSOLE_URL: --url takes ${CONSOLE_ADDRESS}.`,
      );
    const registered = await withOperator((operator) => operator.registerConsole(url));
    const { clientId, redirectUris, postLogoutRedirectUris, changed } = registered;
    print(
      {
        client_id: clientId,
        redirect_uris: redirectUris,
        post_logout_redirect_uris: postLogoutRedirectUris,
        changed,
      },
      consoleSentence(registered),
    );
    return EXIT.done;
  },
});

function consoleSentence({
  clientId,
  changed,
  postLogoutRedirectUris: [home = ''],
}: RegisteredConsole): string {
  return changed
    ? `The Console at ${home} is registered as ${clientId}.`
    : `The Console at ${home} was registered already (${clientId}).`;
}

function bootstrap(): PlatformCommand<NewOrganization & { consoleUrl?: string }> {
  return {
    name: 'bootstrap',
    summary: 'founds the root organization with its built-in roles and one owner key, which is printed once',
    details:
      'It registers the Console, too: see "platform console --help". The JSON is {"organization_id", "slug", "key_id",\n' +
      '"prefix", "key", "console_client_id"}; the last is null where nobody can be sent to the address of the Console.',
    options: [
      consoleOption('--console-url <url>'),
      nameOption().default('Platform'),
      slugOption().default('platform'),
      localeOption().default('en'),
      timezoneOption().default('UTC'),
    ],
    environment: CONSOLE_ENVIRONMENT,
    exists: 'a root organization exists; nothing was changed',
    run: async ({ values: { name, slug, locale, timezone, consoleUrl }, print }) => {
      const url = consoleUrl ?? consoleUrlOfEnvironment();
      const founded = await withOperator((operator) =>
        operator.bootstrap({ name, slug, locale, timezone }, url),
      );
      printRoot(founded, print);
      return EXIT.done;
    },
  };
}

function recover(): PlatformCommand {
  return {
    name: 'recover',
    summary: 'issues a new owner key for an organization whose keys are lost',
    details: 'The former keys stay; "platform keys revoke" ends them. The JSON is that of bootstrap.',
    argument: new Argument('<slug>', 'the slug of the organization').argParser(readSlug),
    environment: ENVIRONMENT,
    run: async ({ argument, print }) => {
      printOwner(await withOperator((operator) => operator.recover(argument)), print);
      return EXIT.done;
    },
  };
}

/** What `create` is told. */
interface Creation {
  name: string;
  slug: string;
  parent?: string;
  locale?: string;
  timezone?: string;
  rateLimitKey?: number;
  rateLimitOrganization?: number;
  issue?: KeyPurpose[];
  reissue?: boolean;
}

function create(): PlatformCommand<Creation> {
  return {
    name: 'create',
    summary: 'founds an organization below another and issues keys for it, which are printed once',
    details:
      'The JSON is {"organization_id", "slug", "name", "created", "keys": {"ingestion": {"id", "prefix", "key"},\n' +
      '"administrator": {…}}}.',
    options: [
      nameOption().makeOptionMandatory(),
      slugOption().makeOptionMandatory(),
      slugOption('--parent <slug>', 'the organization above (default: the root)'),
      localeOption(),
      timezoneOption(),
      rateOption('--rate-limit-key <n>', 'events per second for each key (default: 1000)'),
      rateOption(
        '--rate-limit-organization <n>',
        'events per second in all (default: 2000); both or neither',
      ),
      new Option(
        '--issue <purpose...>',
        'ingestion: a key that may send events and contacts; administrator: one that may do everything',
      ).choices(['ingestion', 'administrator']),
      new Option(
        '--reissue',
        'if the slug is taken, equips that organization anew: sets the rate limits, revokes the keys that this command issued before for the same purposes, issues new ones',
      ),
    ],
    environment: ENVIRONMENT,
    exists: 'the slug is taken, and --reissue was not given; nothing was changed',
    run: async ({ values, print }: Given<Creation>) => {
      const equipped = await withOperator((operator) => operator.createOrganization(wishOf(values)));
      const { organization, created, keys: issued } = equipped;
      const { id, slug, name } = organization;
      const lines = Object.entries(issued).map(([purpose, { key }]) => `  ${purpose}  ${key}`);
      print(
        { organization_id: id, slug, name, created, keys: issued },
        [
          `The organization ${slug} is ${created ? 'founded' : 'equipped anew'} (${id}).`,
          ...(lines.length > 0 ? ['Its keys, shown this once; keep them safe:', ...lines] : []),
        ].join('\n'),
      );
      return EXIT.done;
    },
  };
}

function wishOf(values: Creation): Parameters<Operator['createOrganization']>[0] {
  const { name, slug, parent, locale, timezone, issue = [], reissue = false } = values;
  const { rateLimitKey: key, rateLimitOrganization: organization } = values;
  if ((key === undefined) !== (organization === undefined))
    throw new CommandRefusal(
      'Give both --rate-limit-key and --rate-limit-organization, or neither (see --help)',
    );
  return {
    name,
    slug,
    ...(parent === undefined ? {} : { parentSlug: parent }),
    ...(locale === undefined ? {} : { locale }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(key === undefined || organization === undefined
      ? {}
      : { rateLimits: { key_per_second: key, organization_per_second: organization } }),
    issue,
    reissue,
  };
}

function printRoot(founded: EquippedRoot, print: Given['print']): void {
  const { console: registered } = founded;
  const sentence = registered
    ? consoleSentence(registered)
    : 'The Console is not registered: say where it is by "platform console --url".';
  printOwner(founded, (json, text) =>
    print({ ...(json as object), console_client_id: registered?.clientId ?? null }, `${text}\n${sentence}`),
  );
}

function printOwner(
  { organization, created, keys: { administrator } }: EquippedOrganization,
  print: Given['print'],
): void {
  const { id, slug } = organization;
  print(
    {
      organization_id: id,
      slug,
      key_id: administrator?.id,
      prefix: administrator?.prefix,
      key: administrator?.key,
    },
    [
      created ? `The root organization ${slug} is founded (${id}).` : `A new owner key for ${slug} (${id}).`,
      'Owner key, shown this once; keep it safe:',
      `  ${administrator?.key ?? ''}`,
    ].join('\n'),
  );
}

async function readLine(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text.trim();
}
