import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider, type Configuration } from 'oidc-provider';

/** One provider to run, as the JSON in this program's argument has it. */
interface OtherProvider {
  readonly name: string;
  /** Claims by subject; or by what stands before the domain of whatever address is the subject. */
  readonly people: Readonly<Record<string, Record<string, unknown>>>;
  /** Whether the ID token says little, and userinfo the rest. */
  readonly thin: boolean;
  readonly algorithm: 'RS256' | 'PS256' | 'ES256';
}

const CLAIMS = [
  'email',
  'email_verified',
  'name',
  'given_name',
  'family_name',
  'preferred_username',
  'locale',
];
const OTHERS = ['hd', 'tid', 'oid', 'ver', 'xms_edov', 'zoneinfo', 'picture'];

/**
 * A provider that is not ours, in a process that is not ours: whom `login_hint` names is signed in and consents, and who
 * is nobody there is refused. Clients register themselves, as an administrator would do it there.
 */
async function start(wanted: OtherProvider): Promise<string> {
  const { privateKey } = await generateKeyPair(wanted.algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: wanted.algorithm, use: 'sig', kid: wanted.name };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const provider = new Provider(issuer, configurationOf(wanted, jwk));
  const serve = provider.callback();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!request.url?.startsWith('/interaction/')) return void serve(request, response);
    const { params } = await provider.interactionDetails(request, response);
    const accountId = String(params['login_hint']);
    const isKnown = claimsOf(wanted.people, accountId) !== undefined;
    const result = isKnown ? { login: { accountId } } : { error: 'access_denied' };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
  return issuer;
}

function configurationOf(
  { people, thin, algorithm }: OtherProvider,
  jwk: Record<string, unknown>,
): Configuration {
  return {
    clientDefaults: {
      id_token_signed_response_alg: algorithm,
      token_endpoint_auth_method: 'client_secret_post',
    },
    jwks: { keys: [jwk] },
    claims: { openid: ['sub', ...OTHERS], email: CLAIMS.slice(0, 2), profile: CLAIMS.slice(2) },
    conformIdTokenClaims: thin,
    cookies: { keys: ['a key of the provider'] },
    features: { devInteractions: { enabled: false }, registration: { enabled: true } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => {
      const claims = claimsOf(people, sub);
      return claims && { accountId: sub, claims: () => ({ ...claims, sub }) };
    },
    loadExistingGrant: async ({ oidc }) => {
      const { provider, client, session } = oidc;
      const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
}

function claimsOf(people: OtherProvider['people'], subject: string): Record<string, unknown> | undefined {
  const [local = '', domain] = subject.split('@');
  const named = people[local];
  if (domain === undefined) return named;
  return named && { email: subject, email_verified: true, ...named };
}

const wanted = JSON.parse(process.argv[2] ?? '[]') as OtherProvider[];
const issuers = await Promise.all(wanted.map(async (each) => [each.name, await start(each)]));
process.stdout.write(`${JSON.stringify(Object.fromEntries(issuers))}\n`);
// Ends with whoever started it.
process.stdin.on('end', () => process.exit(0)).resume();
