import { isStorableText } from '../json/inspect-json.js';
import { isDay, parseInstant } from '../json/parse-instant.js';
import { isUuid } from '../json/uuids.js';
import type { FilterOp, FilterType, FilterValue } from './list-definition.js';

const NUMBER = /^-?(?:\d+|\d*\.\d+)(?:[eE][+-]?\d{1,3})?$/;

const EXPECTED: Record<FilterType, string> = {
  string: 'text',
  uuid: 'a UUID',
  enum: 'one of the listed values',
  time: 'an ISO 8601 time with an offset (in a query, + is written %2B)',
  date: 'a date as YYYY-MM-DD',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

const RANGE: readonly FilterOp[] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'is_null'];
const EQUALITY: readonly FilterOp[] = ['eq', 'ne', 'in', 'is_null'];

/** The operators a filter takes where its list names none (the public contract, "Lists"). */
export const DEFAULT_OPS: Readonly<Record<FilterType, readonly FilterOp[]>> = {
  string: EQUALITY,
  uuid: EQUALITY,
  enum: EQUALITY,
  boolean: ['eq', 'ne', 'is_null'],
  time: RANGE,
  date: RANGE,
  integer: RANGE,
  number: RANGE,
};

/** What a value of this type looks like, for the text of an error. */
export function expectedValue(type: FilterType, values?: readonly string[]): string {
  return type === 'enum' && values ? `one of ${values.join(', ')}` : EXPECTED[type];
}

/** Reads a value of a query; undefined if it is not of the type. */
export function readValue(
  type: FilterType,
  text: string,
  values?: readonly string[],
): FilterValue | undefined {
  switch (type) {
    case 'string':
      return isStorableText(text) ? text : undefined;
    case 'uuid':
      return isUuid(text) ? text.toLowerCase() : undefined;
    case 'enum':
      return values?.includes(text) ? text : undefined;
    case 'time':
      return parseInstant(text);
    case 'date':
      return isDay(text) ? text : undefined;
    case 'integer':
      return readNumber(/^-?\d{1,16}$/, text, Number.isSafeInteger);
    case 'number':
      return readNumber(NUMBER, text, Number.isFinite);
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
  }
}

function readNumber(form: RegExp, text: string, accepts: (value: number) => boolean): number | undefined {
  if (!form.test(text)) return undefined;
  const value = Number(text);
  return accepts(value) ? value : undefined;
}

/** The values of `in`: separated by commas; a comma within a value was percent-encoded twice, a percent sign too. */
export function splitValues(text: string): string[] {
  return text.split(',').map((part) => part.replace(/%(2c|25)/gi, (code) => (code === '%25' ? '%' : ',')));
}
