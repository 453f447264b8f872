/** The canonical form of a language tag (`es-cl` → `es-CL`); undefined for what is none. */
export function canonicalLocale(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined; // no language tag by BCP 47
  }
}

/** The canonical name of an IANA time zone (`america/santiago` → `America/Santiago`); undefined for what is none. */
export function canonicalTimeZone(text: string): string | undefined {
  if (!/^[A-Za-z]/.test(text)) return undefined; // an offset is no zone: it knows no daylight saving
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined; // not in the time zone database
  }
}
