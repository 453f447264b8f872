import { RE2JS } from 're2js';

/** The longest pattern, and the longest text that is held against one, in characters. */
const LONGEST_PATTERN = 200;
export const LONGEST_PATTERNED = 1_000;
/** Steps that each character of a text may cost: what repetitions are unrolled to. */
const MOST_STEPS = 300;

/** A pattern in the dialect of RE2, whose time is linear in the text: no look-around, no back-references. */
interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

/** @throws Error when it is no pattern of that dialect, or too large a one */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > LONGEST_PATTERN)
    throw new RangeError(`A pattern has at most ${LONGEST_PATTERN} characters.`);
  const compiled = RE2JS.compile(pattern);
  if (compiled.programSize() > MOST_STEPS)
    throw new RangeError('The repetitions of the pattern are too many.');
  return {
    // Whatever is longer is refused by the schema's `maxLength`, and is not read.
    test: (text) => text.length <= 2 * LONGEST_PATTERNED && compiled.test(text),
    // By this ajv tells patterns apart.
    toString: () => `re2:${pattern}`,
  };
}
