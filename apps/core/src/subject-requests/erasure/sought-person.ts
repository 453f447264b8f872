import { partsOfPhone } from '@customer-platform/http';
import { identityForms } from '../../vocabulary/identities/identity-value.js';
import type { EventKind } from '../../vocabulary/events/event-schemas.js';
import { isShaped } from '../../vocabulary/events/event-validation.js';
import {
  END_OF_AMOUNT,
  isObject,
  namedBy,
  normalPhones,
  parsed,
  signsIn,
  uuidsIn,
} from '../../vocabulary/events/named-values.js';
import type { Identifier } from '../../blocklist/erased-identifiers.js';

/** Shorter numbers stand in texts that mean something else. */
const SHORTEST_NUMBER = 7;
/** By its last digits a number is passed over that cannot be the person's: to read one costs much more. */
const END_DIGITS = 6;

/** Fields of answers whose value is an identifier. */
const FIELDS = ['external_id', 'email', 'phone'] as const;

/** Members of answers in which anything may stand: whoever has the same word there is another. */
const FREE: ReadonlySet<string> = new Set(['attributes', 'evidence', 'properties']);

/**
 * A person as they are sought in what was written: a text is read once, and what it names is looked up. By a national id
 * nobody is sought: its index stands nowhere.
 */
export class SoughtPerson {
  private readonly ids: ReadonlySet<string>;
  private readonly values: ReadonlySet<string>;
  private readonly emails: ReadonlySet<string>;
  private readonly phones: ReadonlySet<string>;
  /** Of the numbers, with and without what their countries are called by. */
  private readonly ends: ReadonlySet<string>;
  private readonly digits: readonly string[];
  private readonly nationals: ReadonlySet<string>;
  /** Those of the numbers; a number that says none may be of any of them. */
  private readonly countries: ReadonlySet<string | null>;

  constructor(contactIds: readonly string[], identifiers: readonly Identifier[]) {
    this.ids = new Set(contactIds);
    this.values = new Set(identifiers.map(({ type, normal }) => nameOf(type, normal)));
    const of = (wanted: string): string[] =>
      identifiers.flatMap(({ type, normal }) => (type === wanted ? normal : []));
    this.emails = new Set(of('email'));
    this.phones = new Set(of('phone'));
    const numbers = [...this.phones].flatMap((phone) => partsOfPhone(phone) ?? []);
    const isLong = (number: string): boolean => number.length >= SHORTEST_NUMBER;
    this.ends = new Set([...this.phones].map(endOf));
    this.digits = [...this.phones].map(digitsOf).filter(isLong);
    this.nationals = new Set(numbers.map(({ national }) => national).filter(isLong));
    this.countries = new Set([null, ...numbers.map(({ country }) => country)]);
  }

  /**
   * Whether a dead letter is theirs: by what its event names as itself or as its own, in whatever writing. What an event
   * says beside that is of whom it names. What is no event is read as a text.
   */
  isInLetter(kind: EventKind, payload: Buffer): boolean {
    const text = payload.toString('utf8');
    const body = parsed(text);
    const { values, country } = namedBy(body);
    const countries = country === null ? this.countries : new Set([country]);
    if (values.some(({ type, value }) => this.has(type, value, countries))) return true;
    return !isShaped(kind, body) && this.isInText(text);
  }

  /** Whether an answer is of them: by the id of a contact, or by a field or an identity in it. */
  isInAnswer(text: string): boolean {
    if (uuidsIn(text).some((id) => this.ids.has(id))) return true;
    const left: unknown[] = [parsed(text)];
    while (left.length > 0) {
      const value = left.pop();
      if (typeof value !== 'object' || value === null) continue;
      if (isObject(value) && this.isNamedBy(value)) return true;
      for (const [name, each] of Object.entries(value)) if (!FREE.has(name)) left.push(each);
    }
    return false;
  }

  private isNamedBy(found: Readonly<Record<string, unknown>>): boolean {
    const { type, value } = found;
    if (typeof type === 'string' && typeof value === 'string' && this.has(type, value, this.countries))
      return true;
    return FIELDS.some((field) => {
      const named = found[field];
      return typeof named === 'string' && this.has(field, named, this.countries);
    });
  }

  private has(type: string, value: string, countries: Iterable<string | null>): boolean {
    if (type === 'phone') return this.hasPhone(value, countries);
    return identityForms(type, value, null).some((normal) => this.values.has(nameOf(type, normal)));
  }

  private hasPhone(value: string, countries: Iterable<string | null>): boolean {
    if (this.phones.size === 0) return false;
    // Digits of other scripts, and what stands behind a number, are left to whoever reads it.
    const isPlain = /^[\d\s+().\-/]*$/.test(value) && !END_OF_AMOUNT.test(value);
    if (isPlain && !this.ends.has(endOf(value))) return false;
    return normalPhones(value, countries).some((number) => this.phones.has(number));
  }

  private isInText(text: string): boolean {
    const { emails, numbers, uuids } = signsIn(text);
    return (
      uuids.some((id) => this.ids.has(id)) ||
      emails.some((email) => identityForms('email', email, null).some((form) => this.emails.has(form))) ||
      numbers.some((number) => this.isNumber(digitsOf(number)))
    );
  }

  /** A national form may begin with the zero by which one calls within the country; a long one may stand among others. */
  private isNumber(digits: string): boolean {
    if (this.nationals.has(digits) || this.nationals.has(digits.replace(/^0/, ''))) return true;
    return this.digits.some((number) => digits.includes(number));
  }
}

function nameOf(type: string, normal: string): string {
  return `${type} ${normal}`;
}

function digitsOf(number: string): string {
  return number.replaceAll(/\D/g, '');
}

function endOf(number: string): string {
  return digitsOf(number).slice(-END_DIGITS);
}
