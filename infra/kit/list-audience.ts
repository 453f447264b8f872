import { type Platform, request } from './platform.ts';

const MADE_AT_ONCE = 8;
const ADDED_AT_ONCE = 1_000;
const BUSY = 503;
const BUSY_PAUSE_MS = 250;

/** Makes a contact of each address, and a list of all of them. @returns the list's id */
export async function listOf(
  platform: Platform,
  name: string,
  addresses: readonly string[],
): Promise<string> {
  const contact_ids: string[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (let email = addresses[next++]; email !== undefined; email = addresses[next++])
      contact_ids.push(await idOfNew(platform, '/v1/core/contacts', { external_id: email, email }));
  };
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, one));
  const list = await idOfNew(platform, '/v1/crm/lists', { name });
  for (let from = 0; from < contact_ids.length; from += ADDED_AT_ONCE) {
    const piece = contact_ids.slice(from, from + ADDED_AT_ONCE);
    await request(platform, 'POST', `/v1/crm/lists/${list}/members`, { contact_ids: piece });
  }
  return list;
}

/** Makes something; an overrun machine says 503, and is asked again. */
export async function idOfNew(platform: Platform, path: string, body: object): Promise<string> {
  for (;;) {
    const answer = await request(platform, 'POST', path, body, { allow: [BUSY] });
    if (answer.status !== BUSY) return (answer.body as { id: string }).id;
    await new Promise((done) => setTimeout(done, BUSY_PAUSE_MS));
  }
}
