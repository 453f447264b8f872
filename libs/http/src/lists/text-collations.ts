/** The collations that every module's database has for text that people read, and the ICU locale of each. */
export const TEXT_COLLATIONS = { text_es: 'es', text_root: 'und' } as const;

/** The name of a collation in which text is sorted as people expect. */
export type TextCollation = keyof typeof TEXT_COLLATIONS;

/**
 * The collation of an organization's locale: Spanish, where ñ is a letter after n, or else the root collation of CLDR,
 * which serves every language whose letters are accented ones of others.
 */
export function collationOf(locale: string | undefined): TextCollation {
  return /^es(-|$)/i.test(locale ?? '') ? 'text_es' : 'text_root';
}

/** Tells whether there is a collation of that name. */
export function isTextCollation(name: string): name is TextCollation {
  return Object.hasOwn(TEXT_COLLATIONS, name);
}
