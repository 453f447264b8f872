/** The mark of an invitation's token, and how much of it says which invitation it is. */
const PREFIX = 'inv_';
const NAMES = 48;

/**
 * What proves to the sign-in that one has the token of an invitation, without that the token goes into an address: what it
 * names, and the SHA-256 of all of it (identity.md §3).
 */
export async function proofOf(token: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  const text = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const names = token.slice(PREFIX.length, PREFIX.length + NAMES);
  return `${names}.${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}
