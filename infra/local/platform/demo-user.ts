import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@customer-platform/client';

/** With whom one signs in at once. */
export interface DemoUser {
  user_email: string;
  user_password: string;
}

const EMAIL = 'demo@example.com';
const MAILED_WITHIN_MS = 30_000;
const INVITATION = /#token=(\S+)/;
const RESET = /[?&]token=(\S+)/;

interface Listed {
  data: { id: string }[];
}

/**
 * The owner of the demo organization as a person, made as any is: an invitation, its mail, a password. One who is there
 * already keeps the password; where nobody knows it any more, a new one is chosen as a person would.
 */
export async function ensureDemoUser(
  { admin, anybody, mailUrl }: { admin: Client; anybody: Client; mailUrl: string },
  kept: Partial<DemoUser> | undefined,
): Promise<DemoUser> {
  const query = { email: EMAIL, status: 'active' as const, limit: 1 };
  const { data: users } = await admin.GET('/v1/identity/users', { params: { query } });
  const isThere = users.data.length > 0;
  if (isThere && kept?.user_email === EMAIL && kept.user_password !== undefined)
    return { user_email: EMAIL, user_password: kept.user_password };
  const password = newPassword();
  const mailbox = new DemoMailbox(mailUrl);
  const former = await mailbox.newest();
  if (isThere) {
    await anybody.POST('/v1/identity/password-resets', { body: { email: EMAIL, locale: 'en' } });
    const token = await mailbox.token(RESET, former);
    await anybody.POST('/v1/identity/password-resets/confirm', { body: { token, password } });
  } else {
    await invite(admin);
    const token = await mailbox.token(INVITATION, former);
    await anybody.POST('/v1/identity/invitations/accept', { body: { token, name: 'Demo', password } });
  }
  return { user_email: EMAIL, user_password: password };
}

/** One that a start before did not live to accept is sent again. */
async function invite(admin: Client): Promise<void> {
  const waiting = { email: EMAIL, status: 'pending' as const, limit: 1 };
  const { data: pending } = await admin.GET('/v1/identity/invitations', { params: { query: waiting } });
  const [first] = pending.data;
  if (first) {
    await admin.POST('/v1/identity/invitations/{id}/resend', { params: { path: { id: first.id } } });
    return;
  }
  const query = { built_in: true, kind: 'human' as const, limit: 200 };
  const { data: roles } = await admin.GET('/v1/identity/roles', { params: { query } });
  const owner = roles.data.find(({ key }) => key === 'owner');
  if (!owner) throw new Error('There is no role of owners.');
  const body = { email: EMAIL, locale: 'en' as const, role_ids: [owner.id] };
  await admin.POST('/v1/identity/invitations', { body });
}

/** What the mail catcher holds for the demo user. */
class DemoMailbox {
  private readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async newest(): Promise<string | undefined> {
    const { data } = (await this.read(`/messages?to=${EMAIL}&limit=1`)) as Listed;
    return data[0]?.id;
  }

  /** The token of the next mail. @throws Error where none comes */
  async token(pattern: RegExp, former: string | undefined): Promise<string> {
    const deadline = Date.now() + MAILED_WITHIN_MS;
    while (Date.now() < deadline) {
      const id = await this.newest();
      if (id !== undefined && id !== former) {
        const { text } = (await this.read(`/messages/${id}`)) as { text: string };
        const [, token] = pattern.exec(text) ?? [];
        if (token !== undefined) return token;
      }
      await pause(100);
    }
    throw new Error(`No mail with a link came for ${EMAIL} within 30 s.`);
  }

  private async read(path: string): Promise<unknown> {
    return (await fetch(this.url + path)).json();
  }
}

/** Long enough for the rules, short enough to type. */
function newPassword(): string {
  return (randomBytes(8).toString('hex').match(/.{4}/g) ?? []).join('-');
}
