/**
 * Liquid among markup, put aside while a parser of the markup works. Runs inside the processes of rendering: it imports
 * nothing of the application.
 */

/**
 * Replaces each `{{ output }}` and `{% tag %}`. One scan: a pattern would look for the end of each opening brace anew,
 * and a template of a thousand braces that nothing closes is a thousand looks at the rest of it.
 */
export function replaceLiquid(source: string, replacement: (token: string) => string): string {
  return replaceDelimited(
    source,
    [
      { open: '{{', close: '}}' },
      { open: '{%', close: '%}' },
    ],
    replacement,
  );
}

/** Replaces what stands between an opening and the next closing text, both included; the first that opens counts. */
export function replaceDelimited(
  source: string,
  delimiters: readonly { readonly open: string; readonly close: string; readonly unless?: string }[],
  replacement: (whole: string) => string,
): string {
  const places = delimiters.map((delimiter) => ({ ...delimiter, at: source.indexOf(delimiter.open) }));
  const parts: string[] = [];
  let written = 0;
  for (;;) {
    const next = places.filter(({ at }) => at !== -1).sort((one, other) => one.at - other.at)[0];
    if (!next) return parts.join('') + source.slice(written);
    const { at, open, close, unless } = next;
    const isText = unless !== undefined && source.startsWith(unless, at + open.length);
    const end = isText ? at : source.indexOf(close, at + open.length);
    // Nothing closes it, nor any that opens later.
    if (end === -1) next.at = -1;
    else if (isText) next.at = source.indexOf(open, at + 1);
    else {
      parts.push(source.slice(written, at), replacement(source.slice(at, end + close.length)));
      written = end + close.length;
      for (const place of places) {
        if (place.at !== -1 && place.at < written) place.at = source.indexOf(place.open, written);
      }
    }
  }
}

/** Markup whose liquid has been replaced by words that no parser changes. */
interface SetAside {
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
  const markup = replaceLiquid(source, (token) => {
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
