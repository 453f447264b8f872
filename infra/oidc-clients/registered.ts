import { randomBytes, randomUUID } from 'node:crypto';
import { FormBrowser } from '@customer-platform/kit/form-browser.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf, publicApi } from '@customer-platform/kit/public-api.ts';
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
  const admin = await adminOf(platform);
  const body = { name, slug: name, issue_api_key: true };
  const { data: founded } = await admin.POST('/v1/identity/organizations', { body });
  const own = { ...platform, admin_key: founded.api_key?.key ?? '' };
  const remove = async () => {
    await admin.DELETE('/v1/identity/organizations/{id}', { params: { path: { id: founded.id } } });
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
  const owner = await adminOf(platform);
  await owner.POST('/v1/identity/invitations', { body: { email } });
  const read = async <T>(path: string): Promise<T> =>
    (await fetch(platform.mail_url + path)).json() as Promise<T>;
  const list = `/messages?to=${email}&limit=1&wait=${String(MAIL_WITHIN_S)}`;
  const { data } = await read<{ data: { id: string }[] }>(list);
  const { text } = await read<{ text: string }>(`/messages/${data[0]?.id ?? ''}`);
  const token = /#token=(\S+)/.exec(text)?.[1];
  if (token === undefined) throw new Error(`An invitation’s mail has not come within ${MAIL_WITHIN_S} s.`);
  const body = { token, name: 'Somebody New', password };
  const anybody = await publicApi(platform.base_url, undefined);
  await anybody.POST('/v1/identity/invitations/accept', { body });
}

async function clients(platform: Platform): Promise<Omit<Subject, 'issuer' | 'email'>> {
  const owner = await adminOf(platform);
  const path = '/v1/identity/oauth-clients';
  const { data: web } = await owner.POST(path, {
    body: {
      name: 'Web',
      type: 'confidential',
      redirect_uris: [BACK],
      post_logout_redirect_uris: [BYE],
    },
  });
  const { data: role } = await owner.POST('/v1/identity/roles', {
    body: { name: 'Reads roles', kind: 'machine', permissions: ['identity.roles.read'] },
  });
  const { data: machine } = await owner.POST(path, {
    body: {
      name: 'Machine',
      type: 'confidential',
      grant_types: ['client_credentials'],
      role_id: role.id,
    },
  });
  return {
    client_id: web.id,
    client_secret: web.client_secret ?? '',
    redirect_uri: BACK,
    post_logout_redirect_uri: BYE,
    machine_id: machine.id,
    machine_secret: machine.client_secret ?? '',
    api: `${platform.base_url}/v1/identity/roles`,
  };
}
