/** Reads what is typed into the search: a person is looked for by a number as people write it, a thing by its id. */

/** A number that people write with blanks, hyphens, dots, a plus or brackets around its first figures. */
const PHONE = /^\+?[\d\s().-]{6,24}$/;
const FEWEST_FIGURES = 6;
/** The shortest number of a person in its country: shorter ones are looked for as they are. */
const NATIONAL_FIGURES = 9;
/** The country in which a number without one is read. */
const COUNTRY = '56';
/** A Chilean national id, with dots or without, and a figure of control: a number alone may be that of a phone. */
const RUT = /^(\d{1,2}\.\d{3}\.\d{3}|\d{7,8}(?=-|k))-?([\dk])$/i;
/** The same as far as it is typed, from its second dot or its hyphen on; also with a wrong figure of control. */
const RUT_BEGUN = /^(\d{1,2}\.\d{3}\.(\d{0,2}|\d{3}-?[\dk]?)|\d{7,8}(-[\dk]?|k))$/i;

/** Spells a number in the ways in which it may begin one that is kept: as it is, and with the country before it. */
export function phonesIn(typed: string): string[] {
  if (!PHONE.test(typed)) return [];
  const figures = typed.replaceAll(/\D/g, '');
  if (figures.length < FEWEST_FIGURES) return [];
  const national = figures.replace(/^0+/, '');
  if (typed.startsWith('+')) return [figures];
  return national.length === NATIONAL_FIGURES ? [`${COUNTRY}${national}`, national] : [national];
}

/** Reads a RUT with its figure of control, as `12345678-5`; nothing where the figure is wrong. */
export function rutIn(typed: string): string | undefined {
  const [, body = '', control = ''] = RUT.exec(typed.trim()) ?? [];
  const figures = body.replaceAll('.', '');
  if (figures === '') return undefined;
  return controlOf(figures) === control.toUpperCase() ? `${figures}-${control.toUpperCase()}` : undefined;
}

/** Tells whether a text has the shape of a RUT, whole or begun: it is not to stand in an address, which servers keep. */
export function isRutBegun(typed: string): boolean {
  return RUT_BEGUN.test(typed.trim());
}

/** Modulo 11, with weights from 2 to 7 from the right. */
function controlOf(figures: string): string {
  const sum = [...figures]
    .reverse()
    .reduce((total, figure, place) => total + Number(figure) * (2 + (place % 6)), 0);
  const rest = 11 - (sum % 11);
  return rest === 11 ? '0' : rest === 10 ? 'K' : String(rest);
}

/** Spells a text without case and accents. */
export function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Tells whether each word that was typed begins a word of the text. */
export function isFoundIn(text: string, typed: string): boolean {
  const words = plain(text).split(/[\s/·:()-]+/);
  return plain(typed)
    .split(/\s+/)
    .filter((word) => word !== '')
    .every((word) => words.some((each) => each.startsWith(word)));
}
