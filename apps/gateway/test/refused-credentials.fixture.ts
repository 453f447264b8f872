import { randomBytes, randomUUID } from 'node:crypto';
import { newApiKey } from '@customer-platform/authorization';
import type { CredentialName } from '@customer-platform/http';
import { eventually, serviceTokens, type PlatformUnderTest, type Tenant } from '@customer-platform/testing';
import { signatureOf, type AllCredentials } from './credential-classes.fixture.js';

const JSON_BODY = { 'content-type': 'application/json' };

/** A request to a module's own listener. */
interface Presented {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Presentations of a kind of credential by whoever has none. */
interface RefusedKind {
  /** Altered, made up, revoked, or for something else. */
  readonly wrong: readonly Presented[];
}

/** An answer without what tells which request it was of. */
interface Said {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Presents one. A busy machine may answer 503 at first. */
export function refusalOf(presented: Presented): Promise<Said> {
  const { url, ...init } = presented;
  return eventually(async () => {
    const answer = await fetch(url, init);
    const { correlation_id: _request, ...body } = (await answer.json()) as Record<string, unknown>;
    expect(answer.status).not.toBe(503);
    const { date: _date, 'x-correlation-id': _id, ...headers } = Object.fromEntries(answer.headers);
    return { status: answer.status, headers, body };
  });
}

/** Each kind at a route of its own. */
export async function obtainRefused(
  platform: PlatformUnderTest,
  tenant: Tenant,
  held: AllCredentials,
): Promise<Record<CredentialName, RefusedKind>> {
  const { id, key } = await platform.keyWith(tenant, ['core.contacts.read', 'core.members.exchange']);
  await platform.query('identity', 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
  return {
    ...ofCallers(platform.urlOf('core'), key, held),
    service_token: await ofService(platform.internalUrlOf('core'), held),
    client_secret: await ofClient(platform.urlOf('identity'), tenant),
    ...signed(platform.urlOf('messaging'), held),
  };
}

function ofCallers(core: string, revoked: string, held: AllCredentials) {
  const { apiKey, userToken, memberToken, tenantToken } = held;
  const read = (token: string) => bearer(`${core}/v1/core/contacts`, token);
  const me = (token: string) => bearer(`${core}/v1/core/members/me`, token);
  const exchange = (token: string) => {
    const { url, headers } = bearer(`${core}/v1/core/members/token-exchange`, token);
    return { url, method: 'POST', headers: { ...headers, ...JSON_BODY }, body: '{}' };
  };
  return {
    api_credential: {
      wrong: [newApiKey(), revoked, altered(userToken), memberToken].map(read),
    },
    tenant_token: {
      wrong: [newApiKey(), revoked, userToken, memberToken].map(exchange),
    },
    member_token: {
      wrong: [altered(memberToken), apiKey, userToken, tenantToken].map(me),
    },
  };
}

async function ofService(core: string, { userToken }: AllCredentials): Promise<RefusedKind> {
  const path = '/internal/members/keys';
  const ask = (token: string) => bearer(core + path, token);
  const token = await serviceTokens('identity', 'core')({ method: 'GET', path });
  const elsewhere = await serviceTokens('identity', 'core')({ method: 'GET', path: '/internal/elsewhere' });
  const ofCrm = await serviceTokens('identity', 'crm')({ method: 'GET', path });
  return {
    wrong: [altered(token), elsewhere, ofCrm, userToken].map(ask),
  };
}

async function ofClient(identity: string, { admin }: Tenant): Promise<RefusedKind> {
  const clientOf = async (name: string) => {
    const made = await admin.post<{ id: string; client_secret: string }>('/v1/identity/oauth-clients', {
      name,
      type: 'confidential',
      redirect_uris: ['https://app.example/callback'],
    });
    expect(made.status).toBe(201);
    return { id: made.body.id, secret: made.body.client_secret };
  };
  const [one, another] = [await clientOf('One'), await clientOf('Another')];
  const ask = (id: string, secret: string) => ({
    url: `${identity}/oauth/token`,
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  return { wrong: [ask(one.id, another.secret), ask(one.id, 'secret'), ask(randomUUID(), one.secret)] };
}

function signed(messaging: string, { apiKey, linkToken, reportPath }: AllCredentials) {
  const report = (path: string, headers: Record<string, string>) => ({
    url: messaging + path,
    method: 'POST',
    headers: { ...JSON_BODY, ...headers },
    body: '{}',
  });
  const ofNobody = () => {
    const path = reportPath.replace(/key=.*$/, `key=${randomBytes(24).toString('base64url')}`);
    return report(path, signatureOf('{}'));
  };
  const link = (token: string) => ({ url: `${messaging}/v1/messaging/unsubscribe?token=${token}` });
  return {
    provider_signature: {
      wrong: [report(reportPath, signatureOf('another body')), report(reportPath, {}), ofNobody()],
    },
    signed_link: {
      wrong: [altered(linkToken), 'nonsense', apiKey].map(link),
    },
  };
}

function bearer(url: string, token: string): Presented {
  return { url, headers: { authorization: `Bearer ${token}` } };
}

/** The token with another signature. */
function altered(token: string): string {
  return `${token.slice(0, token.lastIndexOf('.'))}.${randomBytes(64).toString('base64url')}`;
}
