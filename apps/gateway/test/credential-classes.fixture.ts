import { createHmac, randomUUID } from 'node:crypto';
import { eventually, type PlatformUnderTest, type Tenant } from '@customer-platform/testing';
import { done, type Credentials } from './credentials.fixture.js';
import type { DocumentedRoute } from './documented-routes.fixture.js';

/** The tokens that somebody may present anywhere, by the scheme or authorization of the routes that they are for. */
export const TOKENS = {
  api_key: 'apiKey',
  user_token: 'userToken',
  member_token: 'memberToken',
  tenant_token: 'tenantToken',
  invitation_token: 'invitationToken',
  reset_token: 'resetToken',
  accepted_invitation: 'acceptedToken',
  signed_link: 'linkToken',
} as const satisfies Record<string, keyof AllCredentials>;

/** Of a provider with an account of its own. */
const PROVIDER_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** One credential of each class. */
export interface AllCredentials extends Credentials {
  /** Of the link that ends a subscription. */
  readonly linkToken: string;
  /** The path on which an organization's provider reports. */
  readonly reportPath: string;
}

/** What asks for none, or judges by the rules of a protocol, in whose form it then refuses. */
const OPEN: readonly (string | undefined)[] = ['none', 'protocol'];

/** Routes that demand a credential, in whatever way. */
export function demanding(routes: readonly DocumentedRoute[]): DocumentedRoute[] {
  return routes.filter(({ takes, authorization }) => takes.length > 0 || !OPEN.includes(authorization));
}

/** Of them those that a token of a class is not for. */
export function closedTo(scheme: string, routes: readonly DocumentedRoute[]): DocumentedRoute[] {
  return demanding(routes).filter(
    ({ takes, usersOnly, authorization }) =>
      !takes.includes(scheme) && authorization !== scheme && !(usersOnly && scheme === 'api_key'),
  );
}

/** The route with a token where the route looks for one, besides the header: in the body, in the query, or nowhere. */
export function withToken(route: DocumentedRoute, token: string): DocumentedRoute {
  if (route.authorization === 'invitation_token' || route.authorization === 'reset_token')
    return { ...route, body: { token } };
  if (route.authorization === 'signed_link') {
    return { ...route, path: `${route.path}?token=${encodeURIComponent(token)}`, body: {} };
  }
  // Of those that sign, one; of those that ask whether they have the right address, the one there is.
  const provider = route.method === 'GET' ? 'meta' : 'generic';
  return { ...route, path: route.path.replace('{provider}', provider) };
}

/** The headers by which a provider signs these bytes. */
export function signatureOf(text: string, signedAgoS = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000) - signedAgoS);
  const mac = createHmac('sha256', PROVIDER_SECRET).update(`${timestamp}.${text}`).digest('hex');
  return { 'x-timestamp': timestamp, 'x-signature': `sha256=${mac}` };
}

/** The token of the link in a mail that `tenant` sends. */
export async function obtainLink(platform: PlatformUnderTest, { admin }: Tenant): Promise<string> {
  const address = `${randomUUID()}@example.com`;
  const send = {
    channel: 'email',
    category: 'marketing',
    recipient: { address },
    content: { subject: 'News', text: 'Hello.' },
  };
  await done(admin.post('/v1/messaging/sends', send, { 'Idempotency-Key': randomUUID() }));
  return eventually(
    async () => {
      const [mail] = await platform.mailsTo(address);
      const { text } = await platform.mail(mail?.id ?? '');
      const [, token] = /\/unsubscribe\?token=([\w.-]+)/.exec(text) ?? [];
      expect(token).toBeDefined();
      return token ?? '';
    },
    { within: 30_000 },
  );
}

/** Gives `tenant` a provider. @returns where it reports */
export async function obtainReportPath({ admin }: Tenant): Promise<string> {
  const push = { provider: 'http', url: 'http://127.0.0.1:9/', secret: PROVIDER_SECRET };
  const answer = await done<{ channels: { push: { webhook_url: string } } }>(
    admin.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { push } } }),
  );
  const { search } = new URL(answer.channels.push.webhook_url);
  return `/v1/messaging/webhooks/generic${search}`;
}
