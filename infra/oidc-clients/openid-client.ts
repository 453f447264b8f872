import * as oidc from 'openid-client';
import { type Client, demand, inTurn, type Person, type Subject } from './walk.ts';

/** `openid-client` 6, as a web application uses it. */
export const openidClient: Client = {
  name: 'openid-client 6 (Node)',
  async walk(subject, person, tell) {
    const insecure = { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] };
    const find = (id: string, secret: string) =>
      oidc.discovery(new URL(subject.issuer), id, secret, oidc.ClientSecretBasic(secret), insecure);
    let web: oidc.Configuration;
    let tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;
    let sub = '';
    await inTurn(
      {
        discovery: async () => {
          web = await find(subject.client_id, subject.client_secret);
          demand(web.serverMetadata().issuer === subject.issuer, 'the issuer’s own name');
        },
        code: async () => {
          tokens = await signIn(web, subject, person);
          sub = tokens.claims()?.sub ?? '';
          demand(sub !== '' && tokens.refresh_token !== undefined, 'an ID token and a refresh token');
        },
        userinfo: async () => {
          const { email } = await oidc.fetchUserInfo(web, tokens.access_token, sub);
          demand(email === subject.email, 'the address of who signed in');
        },
        refresh: async () => {
          const refreshed = await oidc.refreshTokenGrant(web, tokens.refresh_token ?? '');
          demand(refreshed.refresh_token !== tokens.refresh_token, 'another refresh token');
          tokens = refreshed;
        },
        'client-credentials': async () => {
          const machine = await find(subject.machine_id, subject.machine_secret);
          const { access_token: token } = await oidc.clientCredentialsGrant(machine);
          const answer = await oidc.fetchProtectedResource(machine, token, new URL(subject.api), 'GET');
          demand(answer.status === 200, '200 of the API');
        },
        introspection: async () => {
          const { active } = await oidc.tokenIntrospection(web, tokens.access_token);
          demand(active, 'an active token');
        },
        revocation: async () => {
          await oidc.tokenRevocation(web, tokens.refresh_token ?? '');
          const { active } = await oidc.tokenIntrospection(web, tokens.access_token);
          demand(!active, 'no active token');
        },
        'sign-out': async () => {
          const { id_token: hint = '' } = await signIn(web, subject, person);
          const { post_logout_redirect_uri: back } = subject;
          const parameters = { id_token_hint: hint, post_logout_redirect_uri: back, state: 'bye' };
          const end = await person.signOut(oidc.buildEndSessionUrl(web, parameters).href);
          demand(end.href === `${back}?state=bye`, `${back}, not ${end.href}`);
        },
      },
      tell,
    );
  },
};

async function signIn(web: oidc.Configuration, subject: Subject, person: Person) {
  const verifier = oidc.randomPKCECodeVerifier();
  const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
  const url = oidc.buildAuthorizationUrl(web, {
    redirect_uri: subject.redirect_uri,
    scope: 'openid email offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  });
  const back = await person.signIn(url.href);
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
  return oidc.authorizationCodeGrant(web, back, { ...checks, idTokenExpected: true });
}
