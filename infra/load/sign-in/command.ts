/**
 * `npm run load -- sign-in [--rate N] [--duration S] [--sessions N]`: what signing in costs, and costs everybody else.
 * Discovery and keys at 100 requests/s; `track` at 100/s alone, then while N people a second sign in by the pages with
 * their passwords; 50 refreshes a second. Then as many sessions as said, with ten refresh tokens each, are put into
 * identity's database, and the refreshes come again.
 */
import { randomBytes } from 'node:crypto';
import { FormBrowser } from '@customer-platform/kit/form-browser.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { adminOf, publicApi } from '@customer-platform/kit/public-api.ts';
import * as oidc from 'openid-client';
import { inviteAll } from '../invitations.ts';
import { anEvent, call, type Figures, paced, printFigures } from '../paced.ts';
import { fillSessions } from './fill.ts';

/** What is loaded, and how. */
interface SignInLoad {
  platform: Platform;
  /** Sign-ins a second. */
  rate: number;
  /** Seconds of each part. */
  duration: number;
  /** Sessions that are there besides. */
  sessions: number;
}

const READS_A_SECOND = 100;
const TRACKS_A_SECOND = 100;
const REFRESHES_A_SECOND = 50;
const PEOPLE = 40;
/** Each is used once in a while, one after the other: a token that is used twice ends its session. */
const FAMILIES = 100;
const BACK = 'http://127.0.0.1:9/back';

interface Person {
  email: string;
  password: string;
}

/** Runs it and prints the figures of each part. */
export async function runSignIn(load: SignInLoad, say: (line: string) => void): Promise<void> {
  const { platform, rate, duration, sessions } = load;
  say(`sign-in: ${PEOPLE} people are invited and accept …`);
  const people = await peopleOf(platform);
  const program = await Program.register(platform);
  say(`discovery and keys, ${READS_A_SECOND}/s each, for ${duration} s`);
  const show = (figures: Record<string, Figures>): void => {
    printFigures(figures, say);
    if (Object.values(figures).some(({ refused }) => refused > 0)) process.exitCode = 1;
  };
  show(await readMetadata(platform, duration));
  say(`track alone, ${TRACKS_A_SECOND}/s, for ${duration} s`);
  const alone = await trackFor(platform, duration);
  show({ track: alone });
  say(`while ${rate} people a second sign in, for ${duration} s`);
  const [beside, signIns] = await Promise.all([
    trackFor(platform, duration),
    paced(rate * duration, duration, (at) => program.signIn(people[at % people.length])),
  ]);
  show({ track: beside, 'sign-in': signIns });
  say(`  track's p95 is ${ratio(beside, alone)} of what it is alone`);
  say(`refreshes, ${REFRESHES_A_SECOND}/s, for ${duration} s`);
  const families = await program.families(people, FAMILIES);
  const few = await program.refreshFor(families, duration);
  show({ refresh: few });
  say(`${sessions.toLocaleString('en')} sessions with ten refresh tokens each are put there …`);
  await fillSessions(platform, sessions);
  const many = await program.refreshFor(families, duration);
  show({ refresh: many });
  say(`  a refresh's p95 is ${ratio(many, few)} of what it was before`);
}

async function peopleOf(platform: Platform): Promise<Person[]> {
  const invited = await inviteAll(platform, PEOPLE);
  const anybody = await publicApi(platform.base_url, undefined);
  const people: Person[] = [];
  for (const { email, token } of invited) {
    const password = randomBytes(18).toString('base64url');
    const body = { token, name: 'Somebody New', password };
    await anybody.POST('/v1/identity/invitations/accept', { body });
    people.push({ email, password });
  }
  return people;
}

async function readMetadata(platform: Platform, seconds: number): Promise<Record<string, Figures>> {
  const read = (path: string) =>
    paced(READS_A_SECOND * seconds, seconds, () =>
      call(`${platform.base_url}/.well-known/${path}`, undefined),
    );
  const [discovery, keys] = await Promise.all([read('openid-configuration'), read('jwks.json')]);
  return { discovery, keys };
}

function trackFor({ base_url: base, ingestion_key: key }: Platform, seconds: number): Promise<Figures> {
  return paced(TRACKS_A_SECOND * seconds, seconds, () => call(`${base}/v1/core/track`, key, anEvent()));
}

function ratio(after: Figures, before: Figures): string {
  return (percentile(after.milliseconds, 0.95) / percentile(before.milliseconds, 0.95)).toFixed(2);
}

/** A program that people sign in to: a public client of the demo organization that serves those below as well. */
class Program {
  private readonly platform: Platform;
  private readonly configuration: oidc.Configuration;

  private constructor(platform: Platform, configuration: oidc.Configuration) {
    this.platform = platform;
    this.configuration = configuration;
  }

  static async register(platform: Platform): Promise<Program> {
    const admin = await adminOf(platform);
    const shape = { type: 'public', organizations: 'tree' } as const;
    const body = { name: 'Load', ...shape, redirect_uris: [BACK] };
    const { id } = (await admin.POST('/v1/identity/oauth-clients', { body })).data;
    const options = { execute: [oidc.allowInsecureRequests] };
    const issuer = new URL(platform.base_url);
    return new Program(platform, await oidc.discovery(issuer, id, undefined, oidc.None(), options));
  }

  /** From the first page to the tokens, by a browser of its own. */
  async signIn(person: Person | undefined): Promise<Response> {
    if (!person) throw new Error('There is nobody.');
    await this.tokensOf(person);
    return new Response();
  }

  /** So many refresh tokens, each of a session of its own. */
  async families(people: readonly Person[], count: number): Promise<string[]> {
    const tokens: string[] = [];
    while (tokens.length < count) {
      const some = people.slice(0, Math.min(4, count - tokens.length));
      const signedIn = await Promise.all(some.map((person) => this.tokensOf(person)));
      tokens.push(...signedIn.map(({ refresh_token: token = '' }) => token));
    }
    return tokens;
  }

  /** Refreshes one after the other; what is kept in `families` goes on. */
  refreshFor(families: string[], seconds: number): Promise<Figures> {
    return paced(REFRESHES_A_SECOND * seconds, seconds, async (at) => {
      const family = at % families.length;
      const tokens = await oidc.refreshTokenGrant(this.configuration, families[family] ?? '');
      families[family] = tokens.refresh_token ?? '';
      return new Response();
    });
  }

  private async tokensOf({ email, password }: Person): Promise<oidc.TokenEndpointResponse> {
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(this.configuration, {
      redirect_uri: BACK,
      scope: 'openid offline_access',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const back = await new FormBrowser(this.platform.base_url).signIn(url.href, email, password);
    return oidc.authorizationCodeGrant(this.configuration, back, { pkceCodeVerifier });
  }
}
