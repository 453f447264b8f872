/** Shorter words of the person's own are too common to say anything. */
const SHORTEST_WORD = 3;
/** Shorter ones are within many words of others (ana in banana), and are the person's own only where they stand by themselves. */
const SHORTEST_PART = 5;
/** So many characters that nobody could have expected make up for all that could. */
const ENOUGH_OF_ONES_OWN = 8;
/** A unit repeated from here on is worth no more than itself. */
const SHORT_UNIT = 8;
/** Neighbours on the keyboard, in the alphabet and among the digits, either way round and going round. */
const ROWS = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjklñ', 'zxcvbnm'];
/** Characters that people put for letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};
const SERVICE_WORDS = ['customer', 'platform', 'customerplatform'];

interface Blocklist {
  readonly common: ReadonlySet<string>;
  /** Words of lists of passwords only: those that dice choose are words as well as any. */
  readonly passwords: ReadonlySet<string>;
}

let blocklist: Promise<Blocklist> | undefined;

/** Read when the first password is set, for it takes 20 MiB. */
async function readBlocklist(): Promise<Blocklist> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return {
    common: new Set(Object.values(dictionary).flat()),
    passwords: new Set(dictionary['passwords-common'] ?? []),
  };
}

/**
 * Why a password is among the first that are tried, in words for its owner; undefined for one that is not (NIST SP
 * 800-63B, 3.1.1.2: passwords of breaches, repetitions and sequences, words of the service and of the person). What is
 * common is looked for whole, repeated, and behind or before digits and signs: at this length nothing else is common.
 * @param words name, address, organization: what is known of the person
 */
export async function whyBlocked(password: string, words: readonly string[]): Promise<string | undefined> {
  blocklist ??= readBlocklist().catch((error: unknown) => {
    blocklist = undefined; // the next one tries again
    throw error;
  });
  const { common, passwords } = await blocklist;
  const plain = password.normalize('NFKC').toLowerCase();
  const own = ownWords([...words, ...SERVICE_WORDS]);
  for (const text of new Set([plain, withoutLookalikes(plain)])) {
    if (common.has(text) || passwords.has(stemOf(text))) return 'It is among the most common passwords.';
    const unit = unitOf(text);
    if (unit !== undefined && (unit.length < SHORT_UNIT || common.has(stemOf(unit))))
      return 'It repeats a short or common text.';
    if (isSequence(text)) return 'It is a sequence of neighbouring characters.';
    if (isMadeOf(text, own)) return 'It is made of your name, your address or the organization’s name.';
  }
  return undefined;
}

/** Without the digits and signs at both ends. */
function stemOf(text: string): string {
  const first = text.search(/\p{L}/u);
  if (first === -1) return '';
  const characters = [...text.slice(first)];
  const last = characters.findLastIndex((character) => /\p{L}/u.test(character));
  return characters.slice(0, last + 1).join('');
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}]/gu, '');
}

function withoutLookalikes(text: string): string {
  return [...text].map((character) => LOOKALIKES[character] ?? character).join('');
}

/** What the text repeats from its beginning to its end, the last time perhaps not to the end. */
function unitOf(text: string): string | undefined {
  for (let length = 1; length <= text.length / 2; length += 1) {
    const unit = text.slice(0, length);
    if (unit.repeat(Math.ceil(text.length / length)).startsWith(text)) return unit;
  }
  return undefined;
}

/** Whether all characters follow each other in runs of four or more along a row. */
function isSequence(text: string): boolean {
  let rest = text;
  while (rest !== '') {
    const run = longestRun(rest);
    if (run < 4) return false;
    rest = rest.slice(run);
  }
  return true;
}

function longestRun(text: string): number {
  const lengths = ROWS.flatMap((row) => [row, [...row].reverse().join('')]).map((row) => {
    const round = row + row;
    let length = 0;
    while (length < text.length && length < row.length && round.includes(text.slice(0, length + 1)))
      length += 1;
    return length;
  });
  return Math.max(...lengths);
}

function ownWords(texts: readonly string[]): string[] {
  const words = texts.flatMap((text) => {
    const plain = text.normalize('NFKC').toLowerCase();
    return [...plain.split(/[^\p{L}\p{N}]+/u), lettersOf(plain)];
  });
  return [...new Set(words)]
    .filter((word) => word.length >= SHORTEST_WORD)
    .sort((a, b) => b.length - a.length);
}

/** Whether the words are what the text is: little is left without them, even with its digits, or less than they are. */
function isMadeOf(text: string, words: readonly string[]): boolean {
  const left = without(text, words);
  const letters = lettersOf(left).length;
  const own = lettersOf(text).length - letters;
  const unexpected = left.replace(/[^\p{L}\p{N}]/gu, '').length;
  return own > 0 && letters < ENOUGH_OF_ONES_OWN && unexpected < Math.max(ENOUGH_OF_ONES_OWN, own + 1);
}

/** What is left when the words are taken out, the longest first; short ones where letters are made of nothing else. */
function without(text: string, words: readonly string[]): string {
  const takenOut = (rest: string, word: string): string => rest.replaceAll(word, ' ');
  const rest = words.filter((word) => word.length >= SHORTEST_PART).reduce(takenOut, text);
  return rest.replace(/\p{L}+/gu, (run) => (words.reduce(takenOut, run).trim() === '' ? ' ' : run));
}
