import * as oauth from 'oauth4webapi';
import { type Client, demand, inTurn, type Person, type Subject } from './walk.ts';

const INSECURE = { [oauth.allowInsecureRequests]: true };

/** A client and how it proves who it is. */
interface Party {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly proof: oauth.ClientAuth;
}

/** `oauth4webapi`, as an application at the edge uses it. */
export const oauth4webapi: Client = {
  name: 'oauth4webapi 3 (Web APIs)',
  async walk(subject, person, tell) {
    let web: Party;
    let tokens: oauth.TokenEndpointResponse;
    const sub = () => oauth.getValidatedIdTokenClaims(tokens)?.sub ?? '';
    await inTurn(
      {
        discovery: async () => {
          web = partyOf(
            await discover(subject),
            subject.client_id,
            oauth.ClientSecretPost(subject.client_secret),
          );
        },
        code: async () => {
          tokens = await signIn(web, subject, person);
          demand(sub() !== '' && tokens.refresh_token !== undefined, 'an ID token and a refresh token');
        },
        userinfo: async () => {
          const { server, client } = web;
          const answer = await oauth.userInfoRequest(server, client, tokens.access_token, INSECURE);
          const { email } = await oauth.processUserInfoResponse(server, client, sub(), answer);
          demand(email === subject.email, 'the address of who signed in');
        },
        refresh: async () => {
          const { server, client, proof } = web;
          const former = tokens.refresh_token ?? '';
          const answer = await oauth.refreshTokenGrantRequest(server, client, proof, former, INSECURE);
          tokens = await oauth.processRefreshTokenResponse(server, client, answer);
          demand(tokens.refresh_token !== former, 'another refresh token');
        },
        'client-credentials': () => actAsMachine(web.server, subject),
        introspection: async () => demand(await isActive(web, tokens), 'an active token'),
        revocation: async () => {
          const { server, client, proof } = web;
          const token = tokens.refresh_token ?? '';
          const answer = await oauth.revocationRequest(server, client, proof, token, INSECURE);
          await oauth.processRevocationResponse(answer);
          demand(!(await isActive(web, tokens)), 'no active token');
        },
        'sign-out': async () => {
          const { id_token: hint = '' } = await signIn(web, subject, person);
          const address = new URL(web.server.end_session_endpoint ?? '');
          const back = subject.post_logout_redirect_uri;
          for (const [name, value] of Object.entries({ id_token_hint: hint, post_logout_redirect_uri: back }))
            address.searchParams.set(name, value);
          const end = await person.signOut(address.href);
          demand(end.href === back, `${back}, not ${end.href}`);
        },
      },
      tell,
    );
  },
};

async function discover({ issuer }: Subject): Promise<oauth.AuthorizationServer> {
  const answer = await oauth.discoveryRequest(new URL(issuer), { ...INSECURE, algorithm: 'oauth2' });
  return oauth.processDiscoveryResponse(new URL(issuer), answer);
}

function partyOf(server: oauth.AuthorizationServer, id: string, proof: oauth.ClientAuth): Party {
  return { server, client: { client_id: id }, proof };
}

async function signIn({ server, client, proof }: Party, subject: Subject, person: Person) {
  const verifier = oauth.generateRandomCodeVerifier();
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
  const url = new URL(server.authorization_endpoint ?? '');
  url.search = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: subject.redirect_uri,
    scope: 'openid email offline_access',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  }).toString();
  const parameters = oauth.validateAuthResponse(server, client, await person.signIn(url.href), state);
  const given = [parameters, subject.redirect_uri, verifier, INSECURE] as const;
  const answer = await oauth.authorizationCodeGrantRequest(server, client, proof, ...given);
  const checks = { expectedNonce: nonce, requireIdToken: true };
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, checks);
  await oauth.validateApplicationLevelSignature(server, answer, INSECURE);
  return tokens;
}

async function isActive(
  { server, client, proof }: Party,
  tokens: oauth.TokenEndpointResponse,
): Promise<boolean> {
  const answer = await oauth.introspectionRequest(server, client, proof, tokens.access_token, INSECURE);
  return (await oauth.processIntrospectionResponse(server, client, answer)).active;
}

async function actAsMachine(server: oauth.AuthorizationServer, subject: Subject): Promise<void> {
  const { client, proof } = partyOf(
    server,
    subject.machine_id,
    oauth.ClientSecretPost(subject.machine_secret),
  );
  const answer = await oauth.clientCredentialsGrantRequest(server, client, proof, {}, INSECURE);
  const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, answer);
  const { status } = await oauth.protectedResourceRequest(
    token,
    'GET',
    new URL(subject.api),
    undefined,
    undefined,
    INSECURE,
  );
  demand(status === 200, '200 of the API');
}
