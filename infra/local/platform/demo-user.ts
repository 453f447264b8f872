import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PublicApi } from './public-api.ts';

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
  admin: PublicApi,
  mailUrl: string,
  kept: Partial<DemoUser> | undefined,
): Promise<DemoUser> {
  const { data } = await admin.get<Listed>(`/v1/identity/users?email=${EMAIL}&status=active&limit=1`);
  const isThere = data.length > 0;
  if (isThere && kept?.user_email === EMAIL && kept.user_password !== undefined)
    return { user_email: EMAIL, user_password: kept.user_password };
  const password = newPassword();
  const anybody = admin.anonymous();
  const mailbox = new DemoMailbox(mailUrl);
  const former = await mailbox.newest();
  if (isThere) {
    await anybody.post('/v1/identity/password-resets', { email: EMAIL, locale: 'en' });
    const token = await mailbox.token(RESET, former);
    await anybody.post('/v1/identity/password-resets/confirm', { token, password });
  } else {
    await invite(admin);
    const token = await mailbox.token(INVITATION, former);
    await anybody.post('/v1/identity/invitations/accept', { token, name: 'Demo', password });
  }
  return { user_email: EMAIL, user_password: password };
}

/** One that a start before did not live to accept is sent again. */
async function invite(admin: PublicApi): Promise<void> {
  const path = '/v1/identity/invitations';
  const { data: pending } = await admin.get<Listed>(`${path}?email=${EMAIL}&status=pending&limit=1`);
  const [first] = pending;
  if (first) {
    await admin.post(`${path}/${first.id}/resend`, undefined);
    return;
  }
  const roles = await admin.get<{ data: { id: string; key: string | null }[] }>(
    '/v1/identity/roles?built_in=true&kind=human&limit=200',
  );
  const owner = roles.data.find(({ key }) => key === 'owner')?.id;
  await admin.post(path, { email: EMAIL, locale: 'en', role_ids: [owner] });
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
