import compile from 'icu-minify/compile';

/** Texts by their names, as they are written: ICU messages. */
export type WrittenTexts = { [name: string]: string | WrittenTexts };

/** The same, ready to be filled in: `use-intl/format-message/format-only` reads these and no other. */
type CompiledTexts = { [name: string]: ReturnType<typeof compile> | CompiledTexts };

/** Parses every text. @throws Error where one is no ICU message */
export function compiledTexts(texts: WrittenTexts): CompiledTexts {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      typeof text === 'string' ? compile(text) : compiledTexts(text),
    ]),
  );
}
