/**
 * `npm run load -- passwords [--rate N] [--duration S]`: what setting passwords costs everybody else. First `track` at
 * 100 requests/s and a light read of identity at 20/s alone, then the same while N invitations a second are accepted,
 * each with a new password; the tokens are read from the mail catcher, as people read them.
 */
import { randomBytes } from 'node:crypto';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { inviteAll } from '../invitations.ts';
import { anEvent, call, type Figures, paced, printFigures } from '../paced.ts';

/** What is loaded, and how. */
interface PasswordsLoad {
  platform: Platform;
  /** Acceptances a second. */
  rate: number;
  /** Seconds of each of the two parts. */
  duration: number;
}

const TRACKS_A_SECOND = 100;
const READS_A_SECOND = 20;

/** Runs it and prints the figures of each call, without and with passwords. */
export async function runPasswords(
  { platform, rate, duration }: PasswordsLoad,
  say: (line: string) => void,
): Promise<void> {
  const count = rate * duration;
  say(`passwords: ${count} people are invited …`);
  const tokens = (await inviteAll(platform, count)).map(({ token }) => token);
  say(`without passwords, for ${duration} s`);
  printFigures(await both(platform, duration, []), say);
  say(`while ${rate} passwords a second are set, for ${duration} s`);
  const figures = await both(platform, duration, tokens);
  printFigures(figures, say);
  if (Object.values(figures).some(({ refused }) => refused > 0)) process.exitCode = 1;
}

async function both(
  platform: Platform,
  duration: number,
  tokens: readonly string[],
): Promise<Record<string, Figures>> {
  const { base_url: base, ingestion_key: ingestion, admin_key: admin } = platform;
  const track = (): Promise<Response> => call(`${base}/v1/core/track`, ingestion, anEvent());
  const read = (): Promise<Response> => call(`${base}/v1/identity/permissions?limit=1`, admin);
  const accept = (at: number): Promise<Response> => {
    const password = randomBytes(18).toString('base64url');
    const body = { token: tokens[at], name: 'Somebody New', password };
    return call(`${base}/v1/identity/invitations/accept`, undefined, body);
  };
  const [tracks, reads, acceptances] = await Promise.all([
    paced(TRACKS_A_SECOND * duration, duration, track),
    paced(READS_A_SECOND * duration, duration, read),
    paced(tokens.length, duration, accept),
  ]);
  return {
    track: tracks,
    'read of identity': reads,
    ...(tokens.length > 0 ? { acceptance: acceptances } : {}),
  };
}
