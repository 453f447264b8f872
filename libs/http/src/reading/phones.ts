import { parsePhoneNumberFromString, type CountryCode, type PhoneNumber } from 'libphonenumber-js/min';
import { cutEnds, plainText } from './texts.js';

/** A number in E.164, or what is wrong with what was given for one. */
export type ReadPhone = { readonly number: string } | { readonly detail: string };

/** The longest writing of a number, blanks and brackets included. */
const LONGEST = 40;
/** Spreadsheets' writing of a number that they take for an amount: `56987650002.0`, `5.69E+10`. */
const OF_SPREADSHEETS = /^\s*[+-]?\d+(?:[.,]\d+)?e[+-]?\d+\s*$|^\s*\+?\d+[.,]0+\s*$/i;
/** The zero between the country's code and the number: dialled within the country alone. */
const ZERO_IN_BRACKETS = /^(\s*\+[\d\s]{1,5})\(0\)/;

/**
 * Reads a number that somebody gives, and takes what the numbering plan of its country has: the right length and a
 * beginning that is given out at all. Whether somebody has it, and of which kind it is, no plan tells. A national form
 * is read as one of `country` (ISO 3166-1), and so are the country's code without `+` and its prefix for calls abroad.
 * `(0)` behind the code of a country is left out where the plan has the number only without it.
 */
export function readPhone(given: string, country: string | null | undefined): ReadPhone {
  const text = visible(given);
  if (OF_SPREADSHEETS.test(text))
    return { detail: 'A spreadsheet has written it as an amount: give its column the format of text.' };
  const without = text.replace(ZERO_IN_BRACKETS, '$1');
  const readings = without === text ? [text] : [text, without];
  const found = readings.flatMap((reading) => parsed(reading, country) ?? []);
  const valid = new Set(found.filter((number) => number.isValid()).map(({ number }) => number));
  const [number] = valid;
  if (number !== undefined && valid.size === 1) return { number };
  return { detail: valid.size > 1 ? TWO_NUMBERS : found.length > 0 ? NOT_OF_PLAN : NO_NUMBER };
}

const TWO_NUMBERS = 'With and without the zero in brackets it is another number: leave the brackets out.';
const NOT_OF_PLAN = 'The numbering plan of its country has no such number.';
const NO_NUMBER = 'It is no phone number: write it with `+` and the code of its country, or give `country`.';

/**
 * The form in which numbers are found and compared: as {@link readPhone} reads them, and those also that only have the
 * length of one, for they were taken once and stand stored. Nothing new is stored by it.
 */
export function matchedPhone(given: string, country: string | null | undefined): string | undefined {
  const text = visible(given);
  if (OF_SPREADSHEETS.test(text)) return undefined;
  const read = readPhone(text, country);
  if ('number' in read) return read.number;
  const number = parsed(text, country);
  return number?.isPossible() ? number.number : undefined;
}

/** The parts of a stored number: its digits within the country, and the country, where the plan tells it. */
export function partsOfPhone(number: string): { national: string; country: string | null } | undefined {
  const read = parsePhoneNumberFromString(number);
  return read && { national: String(read.nationalNumber), country: read.country ?? null };
}

/** Phones wrap the numbers that are copied from them in marks of direction. */
function visible(text: string): string {
  return cutEnds(plainText(text));
}

function parsed(text: string, country: string | null | undefined): PhoneNumber | undefined {
  if (text.length > LONGEST) return undefined;
  const number = parsePhoneNumberFromString(text, {
    defaultCountry: (country ?? undefined) as CountryCode | undefined,
    extract: false,
  });
  return number?.ext ? undefined : number;
}
