import { matchedPhone } from '@customer-platform/http';
import { readTrait, UNKNOWN } from '../contacts/known-traits.js';

/** A value by which an event names a person, as it was written. */
interface NamedValue {
  readonly type: string;
  readonly value: string;
}

/** By what an event names a person. */
interface NamedPerson {
  readonly values: readonly NamedValue[];
  /** That the event says, as a profile reads it; null where it says none. */
  readonly country: string | null;
}

/** What looks like an address or a number in a text that is no event. */
interface TextSigns {
  /** Whole words with one `@`. */
  readonly emails: readonly string[];
  /** Digits, as they are written: with blanks, dots and hyphens. */
  readonly numbers: readonly string[];
  /** Lower case. */
  readonly uuids: readonly string[];
}

/**
 * By what the body of an event names a person: its external id, its identities, and the traits that become an address or
 * a number. Whatever has another shape than it should have is passed over.
 */
export function namedBy(body: unknown): NamedPerson {
  if (!isObject(body)) return { values: [], country: null };
  const { external_id: externalId, traits: sent, identities } = body;
  const traits = isObject(sent) ? sent : {};
  const values: { type?: unknown; value?: unknown }[] = [
    { type: 'external_id', value: externalId },
    { type: 'email', value: traits['email'] },
    { type: 'phone', value: traits['phone'] },
    ...(Array.isArray(identities) ? (identities as unknown[]).filter(isObject) : []),
  ];
  return { values: values.filter(isNamed), country: saidCountry(traits) };
}

/** The country that traits say, as a profile reads it. */
function saidCountry(traits: Readonly<Record<string, unknown>>): string | null {
  const read = readTrait('country', traits['country'] ?? null, UNKNOWN);
  return 'value' in read ? read.value : null;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** What stands neither in an address nor within a word of one; the slash and the equals sign stand before many. */
const BETWEEN = /[\s"(),:;<>[\]\\{}|/=?&']+/;
const LONGEST_DOMAIN = 254;
const NUMBER = /\+?\d[\d\s().\-/]{5,40}\d/g;
const ESCAPES = /\\(?:u([0-9a-f]{4})|(.))/gi;
const WHITE: Readonly<Record<string, string>> = { n: '\n', r: '\n', t: '\t', b: ' ', f: ' ' };

/** What may name a person in a text that is no event, whose escapes are read as those of JSON. One pass each. */
export function signsIn(text: string): TextSigns {
  const plain = text.replaceAll(ESCAPES, (_, code: string | undefined, other: string | undefined) =>
    code === undefined ? (WHITE[other ?? ''] ?? other ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return {
    emails: plain.split(BETWEEN).flatMap((word) => addressOf(word) ?? []),
    numbers: plain.match(NUMBER) ?? [],
    uuids: uuidsIn(plain),
  };
}

/** All that is written as a UUID, in lower case. */
export function uuidsIn(text: string): string[] {
  return text.toLowerCase().match(UUID) ?? [];
}

/** Without the punctuation that stands around it in a sentence. */
function addressOf(word: string): string | undefined {
  const at = word.lastIndexOf('@');
  if (at < 1) return undefined;
  const rest = word.slice(at + 1, at + 1 + LONGEST_DOMAIN);
  const domain = /^[\p{L}\p{M}\p{N}.-]*/u.exec(rest)?.[0] ?? '';
  let end = domain.length;
  while (end > 0 && '.-'.includes(domain.charAt(end - 1))) end -= 1;
  return end === 0 ? undefined : `${word.slice(0, at)}@${domain.slice(0, end)}`;
}

/** The end that a spreadsheet gives a number that it takes for an amount: `56987650002.0`. */
export const END_OF_AMOUNT = /[.,](0+)\s*$/;

/**
 * A number in E.164, read as one of each of the countries; empty if it is no number. Of what a spreadsheet wrote, which is
 * taken for no number any more, both are sought: the number that it was, and the one that was made of it once, zeros
 * included.
 */
export function normalPhones(value: string, countries: Iterable<string | null>): string[] {
  const isAmount = END_OF_AMOUNT.test(value);
  const texts = isAmount ? [value.replace(END_OF_AMOUNT, ''), value.replace(END_OF_AMOUNT, '$1')] : [value];
  const numbers = new Set<string>();
  for (const country of countries)
    for (const text of texts) {
      const number = matchedPhone(text, country);
      if (number !== undefined) numbers.add(number);
    }
  return [...numbers];
}

/** Whether it is an object of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNamed(named: { type?: unknown; value?: unknown }): named is NamedValue {
  return typeof named.type === 'string' && typeof named.value === 'string';
}

/** What a text is as JSON; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
