/** People who are invited and have not answered yet. */
import { randomUUID } from 'node:crypto';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { publicApi } from '@customer-platform/kit/public-api.ts';
import { foundOrganization } from './organizations.ts';

/** As many as are invited and read at once. */
const TOGETHER = 20;
/** Whom people join: nobody gains rights in one organization twenty times a second. */
const ORGANIZATIONS = 10;

interface Invited {
  readonly email: string;
  /** Of the mail's link. */
  readonly token: string;
}

/** Invites people into organizations below the demo's, and reads their mail. */
export async function inviteAll(platform: Platform, count: number): Promise<Invited[]> {
  const keys = await Promise.all(Array.from({ length: ORGANIZATIONS }, () => foundOrganization(platform)));
  const invited: Invited[] = [];
  while (invited.length < count) {
    const some = Array.from({ length: Math.min(TOGETHER, count - invited.length) }, (_, at) =>
      inviteOne(platform, keys[at % ORGANIZATIONS] ?? ''),
    );
    invited.push(...(await Promise.all(some)));
  }
  return invited;
}

async function inviteOne(platform: Platform, key: string): Promise<Invited> {
  const email = `load-${randomUUID()}@example.com`;
  const owner = await publicApi(platform.base_url, key);
  await owner.POST('/v1/identity/invitations', { body: { email } });
  const read = async <T>(path: string): Promise<T> =>
    (await fetch(platform.mail_url + path)).json() as Promise<T>;
  const { data } = await read<{ data: { id: string }[] }>(`/messages?to=${email}&limit=1&wait=30`);
  const { text } = await read<{ text: string }>(`/messages/${data[0]?.id ?? ''}`);
  const token = /#token=(\S+)/.exec(text)?.[1];
  if (token === undefined) throw new Error('An invitation’s mail has not come within 30 s.');
  return { email, token };
}
