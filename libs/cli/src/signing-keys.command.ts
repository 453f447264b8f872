import {
  Clock,
  KeySeal,
  sealOfSigningKeys,
  SigningKeys,
  type SigningAlgorithm,
} from '@customer-platform/database';
import type { ModuleName } from '@customer-platform/http';
import { Argument, InvalidArgumentError, Option } from 'commander';
import { CommandRefusal, EXIT } from './exit-codes.js';
import { SEALING_ENVIRONMENT, withDatabase } from './module-database.js';
import type { CommandGroup, CommandOf, PlatformCommand } from './program.js';

/** Of which keys of the module the commands are; no others are shown or touched. */
interface SigningKeysOptions {
  readonly purpose: string;
  /** How long what they sign lives, in minutes. */
  readonly lifeMinutes: number;
  /** Default: ES256. */
  readonly algorithm?: SigningAlgorithm;
  /** What the commands are called; default `signing-keys`. */
  readonly name?: string;
}

/** An RFC 7638 thumbprint: SHA-256 in base64url. */
const KID = /^[\w-]{43}$/;

/** `platform signing-keys list|rotate|retire`, or by another name for further keys of a module. */
export const signingKeys =
  ({ purpose, lifeMinutes, algorithm, name = 'signing-keys' }: SigningKeysOptions): CommandOf =>
  (module): CommandGroup => {
    const environment = SEALING_ENVIRONMENT(module);
    return {
      name,
      summary: `the keys by which ${module} signs (${purpose}); they are replaced by themselves every 90 days`,
      commands: [
        {
          name: 'list',
          summary: 'shows them, and what each does now',
          environment,
          run: async ({ print }) => {
            const keys = await withKeys(module, (held) => held.list(purpose));
            const lines = keys.map(
              ({ kid, state, usableFrom }) => `${state.padEnd(9)}  ${kid}  from ${usableFrom.toISOString()}`,
            );
            print({ keys }, lines.join('\n'));
            return EXIT.done;
          },
        },
        rotate(module, { purpose, algorithm }),
        {
          name: 'retire',
          summary: 'takes a key away: what it signed is refused within a second, everywhere',
          details: `Tokens live ${String(lifeMinutes)} minutes: whoever retires a key so long after it signed last refuses nobody.`,
          argument: new Argument('<kid>', 'the id of the key').argParser(readKid),
          dashes: true,
          environment,
          run: async ({ argument: kid, print }) => {
            if (!(await withKeys(module, (keys) => keys.retire(purpose, kid))))
              throw new CommandRefusal(`There is no key ${kid}.`);
            print({ retired: kid }, `Retired ${kid}`);
            return EXIT.done;
          },
        },
      ],
    };
  };

function rotate(
  module: ModuleName,
  { purpose, algorithm }: { purpose: string; algorithm: SigningAlgorithm | undefined },
): PlatformCommand<{ after?: number }> {
  return {
    name: 'rotate',
    summary: 'makes another key, published at once, which signs later; the former go on verifying',
    options: [
      new Option('--after <seconds>', 'when it begins to sign; 0: at once (default: a day)').argParser(
        readSeconds,
      ),
    ],
    environment: SEALING_ENVIRONMENT(module),
    run: async ({ values: { after }, print }) => {
      const made = await withKeys(module, (keys) =>
        keys.rotate(purpose, after === undefined ? undefined : after * 1_000, algorithm),
      );
      print({ made }, `Made ${made}`);
      return EXIT.done;
    },
  };
}

function readKid(text: string): string {
  if (KID.test(text)) return text;
  throw new InvalidArgumentError('It takes 43 letters, digits, dashes and underscores.');
}

function readSeconds(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It takes whole seconds.');
}

function withKeys<T>(module: ModuleName, work: (keys: SigningKeys) => Promise<T>): Promise<T> {
  return withDatabase(module, (database, keyring) =>
    work(new SigningKeys(database, new Clock(), new KeySeal(keyring, sealOfSigningKeys(module)))),
  );
}
