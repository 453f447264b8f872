/**
 * Liquid among markup, put aside while a parser of the markup works. Runs inside the processes of rendering: it imports
 * nothing of the application.
 */

/** What liquid puts out, and what it does. */
export const LIQUID = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g;

/** Markup whose liquid has been replaced by words that no parser changes. */
export interface SetAside {
  readonly markup: string;
  readonly tokens: readonly string[];
  /** Gives the liquid back. */
  restore(markup: string): string;
  /** Those that do not stand in the markup any more, by their place in `tokens`. */
  missingIn(markup: string): number[];
}

/** Replaces each liquid token by a word of its own that the markup does not have: small letters and digits. */
export function setLiquidAside(source: string): SetAside {
  let word = 'liquid';
  while (source.toLowerCase().includes(word)) word += 'q';
  const tokens: string[] = [];
  const markup = source.replace(LIQUID, (token) => {
    tokens.push(token);
    // Lines are counted in what an author wrote.
    return `${word}${tokens.length - 1}z${'\n'.repeat(token.split('\n').length - 1)}`;
  });
  const pattern = new RegExp(`${word}(\\d+)z`, 'g');
  return {
    markup,
    tokens,
    restore: (text) => text.replace(pattern, (_whole, index: string) => tokens[Number(index)] ?? ''),
    missingIn: (text) => {
      const present = new Set([...text.matchAll(pattern)].map(([, index]) => Number(index)));
      return tokens.flatMap((_token, index) => (present.has(index) ? [] : [index]));
    },
  };
}
