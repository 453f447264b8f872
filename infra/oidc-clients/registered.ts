import { randomBytes, randomUUID } from 'node:crypto';
import { FormBrowser } from '@customer-platform/kit/form-browser.ts';
import { request, type Platform } from '@customer-platform/kit/platform.ts';
import type { Person, Subject } from './walk.ts';

const BACK = 'https://app.example/back';
const BYE = 'https://app.example/bye';
const MAIL_WITHIN_S = 30;

/** What stands on the platform for a run. */
export interface Registered {
  readonly subject: Subject;
  /** The same person with a browser that nobody has used. */
  readonly person: () => Person;
  /** Takes all of it away again. */
  readonly remove: () => Promise<void>;
}

/** An organization of its own below the demo's, with somebody in it who has a password, and with two clients. */
export async function register(platform: Platform): Promise<Registered> {
  const name = `oidc-clients-${randomUUID()}`;
  const founded = await post<{ id: string; api_key: { key: string } }>(
    platform,
    '/v1/identity/organizations',
    {
      name,
      slug: name,
      issue_api_key: true,
    },
  );
  const own = { ...platform, admin_key: founded.api_key.key };
  const remove = async () => {
    await request(platform, 'DELETE', `/v1/identity/organizations/${founded.id}`);
  };
  try {
    const email = `${name}@example.com`;
    const password = randomBytes(18).toString('base64url');
    await join(own, email, password);
    const subject = { ...(await clients(own)), issuer: platform.base_url, email };
    return { subject, person: () => aPerson(platform, email, password), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function aPerson({ base_url: home }: Platform, email: string, password: string): Person {
  const browser = new FormBrowser(home);
  return {
    signIn: (authorization) => browser.signIn(authorization, email, password),
    signOut: (address) => browser.signOut(address),
  };
}

async function join(platform: Platform, email: string, password: string): Promise<void> {
  await post(platform, '/v1/identity/invitations', { email });
  const read = async <T>(path: string): Promise<T> =>
    (await fetch(platform.mail_url + path)).json() as Promise<T>;
  const list = `/messages?to=${email}&limit=1&wait=${String(MAIL_WITHIN_S)}`;
  const { data } = await read<{ data: { id: string }[] }>(list);
  const { text } = await read<{ text: string }>(`/messages/${data[0]?.id ?? ''}`);
  const token = /#token=(\S+)/.exec(text)?.[1];
  if (token === undefined) throw new Error(`An invitation’s mail has not come within ${MAIL_WITHIN_S} s.`);
  const body = { token, name: 'Somebody New', password };
  const answer = await fetch(`${platform.base_url}/v1/identity/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`An acceptance was answered ${answer.status}: ${await answer.text()}`);
}

async function clients(platform: Platform): Promise<Omit<Subject, 'issuer' | 'email'>> {
  const path = '/v1/identity/oauth-clients';
  type Shown = { id: string; client_secret: string };
  const web = await post<Shown>(platform, path, {
    name: 'Web',
    type: 'confidential',
    redirect_uris: [BACK],
    post_logout_redirect_uris: [BYE],
  });
  const role = await post<{ id: string }>(platform, '/v1/identity/roles', {
    name: 'Reads roles',
    kind: 'machine',
    permissions: ['identity.roles.read'],
  });
  const machine = await post<Shown>(platform, path, {
    name: 'Machine',
    type: 'confidential',
    grant_types: ['client_credentials'],
    role_id: role.id,
  });
  return {
    client_id: web.id,
    client_secret: web.client_secret,
    redirect_uri: BACK,
    post_logout_redirect_uri: BYE,
    machine_id: machine.id,
    machine_secret: machine.client_secret,
    api: `${platform.base_url}/v1/identity/roles`,
  };
}

async function post<T>(platform: Platform, path: string, body: object): Promise<T> {
  return (await request(platform, 'POST', path, body)).body as T;
}
