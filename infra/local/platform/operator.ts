import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { COMPILED_CODE } from './compiled-code.ts';
import { ROOT, platformOf } from './modules.ts';

/** Exit code of a bootstrap where a root organization exists. */
const ALREADY_BOOTSTRAPPED = 3;

interface IssuedKey {
  id: string;
  prefix: string;
  key: string;
}

/** The kinds of key that an operator issues. */
type KeyKind = 'ingestion' | 'administrator';

/** What `platform organizations create --json` prints. */
interface EquippedOrganization<Kind extends KeyKind> {
  organization_id: string;
  created: boolean;
  keys: Record<Kind, IssuedKey>;
}

/** Founds the root organization, if there is none yet. */
export async function foundRoot(databaseUrl: string): Promise<void> {
  // Its owner key is not kept: local work is done in the demo organization, and `recover` issues another.
  await runOperator(['organizations', 'bootstrap', '--json'], databaseUrl, [ALREADY_BOOTSTRAPPED]);
}

/** Sends who signs in with the Console to where it is now. */
export async function registerConsole(databaseUrl: string, url: string): Promise<void> {
  await runOperator(['console', '--url', url, '--json'], databaseUrl);
}

/** Founds an organization without a rate limit to speak of, or equips it anew; its former keys of these kinds end. */
export async function equipOrganization<Kind extends KeyKind>(
  databaseUrl: string,
  { name, slug }: { name: string; slug: string },
  kinds: readonly Kind[],
): Promise<EquippedOrganization<Kind>> {
  const answer = await runOperator(
    [
      ...['organizations', 'create'],
      ...['--name', name, '--slug', slug, '--locale', 'es-CL', '--timezone', 'America/Santiago'],
      ...['--rate-limit-key', '100000', '--rate-limit-organization', '100000'],
      ...['--issue', ...kinds, '--reissue', '--json'],
    ],
    databaseUrl,
  );
  return JSON.parse(answer) as EquippedOrganization<Kind>;
}

async function runOperator(
  words: string[],
  databaseUrl: string,
  allowedCodes: number[] = [],
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [platformOf('identity'), ...words], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...COMPILED_CODE, DATABASE_URL: databaseUrl },
    });
    return stdout;
  } catch (cause) {
    const { code, stderr = '', message } = cause as { code?: number; stderr?: string; message: string };
    if (code !== undefined && allowedCodes.includes(code)) return '';
    throw new Error(`platform ${words.slice(0, 2).join(' ')} failed: ${stderr.trim() || message}`, { cause });
  }
}
