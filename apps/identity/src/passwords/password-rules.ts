import { Problem } from '@customer-platform/problem-json';
import { whyBlocked } from './password-blocklist.js';

/** A password's length in characters (identity.md §3). No rule says which characters. */
export const PASSWORD_LENGTH = { least: 15, most: 128 } as const;

/**
 * Demands a password that is not among the first that would be tried.
 * @param words what is known of the person: name, address, organization
 * @throws Problem `validation_failed` at `/password`, without the password
 */
export async function demandUncommon(password: string, words: readonly string[]): Promise<void> {
  const why = await whyBlocked(password, words);
  if (why === undefined) return;
  const detail = `The password is too easy to guess. ${why}`;
  throw Problem.validation([{ pointer: '/password', code: 'not_allowed', detail }]);
}
