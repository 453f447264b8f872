import type { Transaction } from '@customer-platform/database';
import type { ListQuery } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** Fewer than so many that match are sorted; of more, whoever walks the list in its order comes upon some soon. */
export const FEW = 2_500;

/** The range of all that begins with a word: no character comes after this one. */
const LAST = '\u{10FFFF}';

/** In the form in which words are kept; of two that begin alike the longer says both. */
const WORDS = String.raw`
  WITH given AS (
    SELECT DISTINCT search_word(form) AS word FROM regexp_split_to_table(search_form($1::text), '\s+') AS form)
  SELECT word FROM given
   WHERE word <> '' AND NOT EXISTS (
     SELECT FROM given AS longer WHERE longer.word <> given.word AND starts_with(longer.word, given.word))
   ORDER BY length(word) DESC, word`;

/** A word of the contact in `[from, to)`. By ranges: operators that may be sought by under row level security. */
const HAS_WORD = (contactId: string, from: string, to: string): string => `
    SELECT FROM contact_words AS its
     WHERE its.organization_id = $1 AND its.contact_id = ${contactId}
       AND its.word >= ${from}::text COLLATE "C" AND its.word < ${to}::text COLLATE "C"`;

/** By so many words, the longest, contacts are sought; by the others those that are found are looked at. */
const MOST_SOUGHT = 5;

/** What a search comes to. */
export interface Search {
  /** All that come into question, where these are few. */
  readonly ids: readonly string[] | undefined;
  /** The ranges in each of which a contact has to have a word. */
  readonly bounds: readonly string[];
}

/**
 * Contacts by `q`: every word of it begins one of the contact's.
 * @throws Problem `invalid_filter` for less than 2 or more than 100 characters
 */
export async function search(tx: Transaction, query: ListQuery): Promise<Search | undefined> {
  const { q } = query.parameters;
  if (typeof q !== 'string') return undefined;
  const { length } = [...q];
  if (length < 2 || length > 100) throw refusal();
  const words = await tx.query<{ word: string }>(WORDS, [q]);
  const bounds = words.flatMap(({ word }) => [word, word + LAST]);
  if (bounds.length === 0) return { ids: [], bounds };
  const sought = bounds.slice(0, 2 * MOST_SOUGHT);
  const rows = await tx.query<{ contact_id: string }>(candidates(sought.length / 2), [
    tx.organizationId,
    ...sought,
  ]);
  if (rows.length > FEW) return { ids: undefined, bounds };
  const ids = [...new Set(rows.map((row) => row.contact_id))];
  return { ids, bounds: bounds.slice(sought.length) };
}

/** The statement that finds contacts by so many words, whose ranges are `$2, $3`, `$4, $5`, and so on. */
export function candidates(words: number): string {
  const others = hasWords('found.contact_id', 4, words - 1);
  return `
  SELECT found.contact_id FROM contact_words AS found
   WHERE found.organization_id = $1 AND found.word >= $2::text COLLATE "C" AND found.word < $3::text COLLATE "C"
     ${others.map((has) => `AND EXISTS (${has})`).join(' ')}
   LIMIT ${String(FEW + 1)}`;
}

/**
 * Conditions that a contact has a word in each of so many ranges, of which the first is at `$<first>`: looked at contact
 * by contact, for a walk that soon comes upon enough of them.
 */
export function wordConditions(contactId: string, first: number, words: number): string[] {
  return hasWords(contactId, first, words).map((has) => `EXISTS (${has} OFFSET 0)`);
}

function hasWords(contactId: string, first: number, words: number): string[] {
  return Array.from({ length: words }, (_, at) =>
    HAS_WORD(contactId, `$${String(first + 2 * at)}`, `$${String(first + 2 * at + 1)}`),
  );
}

function refusal(): Problem {
  const detail = '`q` takes 2 to 100 characters.';
  return Problem.validation([{ parameter: 'q', code: 'invalid_filter', detail }]);
}
