/** A language tag by BCP 47: language, script, region and one variant. Extensions say nothing of a person's language. */
export const LANGUAGE_TAG =
  /^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?$/;

/** The canonical form of a language tag (`es-cl` → `es-CL`); undefined for what is none. */
export function canonicalLocale(text: string): string | undefined {
  if (!LANGUAGE_TAG.test(text)) return undefined;
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined; // no language tag by BCP 47
  }
}
