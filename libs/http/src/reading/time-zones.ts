/** Texts whose answers are kept: whoever writes makes the spellings up. */
const KEPT = 2_000;
const LONGEST = 64;
/**
 * Zones that ICU has of its own. PostgreSQL knows some of their names not at all (`AET`, `VST`), and others as abbreviations
 * of somewhere else: `IST` is India here and Israel there.
 */
const OF_ICU_ALONE =
  /^(?:ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST|SystemV\/.*)$/i;
/** What ICU calls zones that the IANA database has renamed: images without legacy names know the new ones alone. */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

const known = new Map<string, string | undefined>();

/**
 * The name that the IANA database has for a time zone today (`america/santiago` → `America/Santiago`, `Asia/Calcutta` →
 * `Asia/Kolkata`), by which Node and PostgreSQL mean the same; undefined for what is none.
 */
export function canonicalTimeZone(text: string): string | undefined {
  return OF_ICU_ALONE.test(text) ? undefined : meant(text);
}

/** The zone that a stored name means, also one that would be refused today; UTC where nobody knows it. */
export function storedTimeZone(text: string): string {
  return meant(text) ?? 'UTC';
}

function meant(text: string): string | undefined {
  // An offset is no zone: it knows no daylight saving. Letters that only look like those of ASCII are not these.
  if (text.length > LONGEST || !/^[A-Za-z][!-~]*$/.test(text)) return undefined;
  if (known.has(text)) return known.get(text);
  if (known.size >= KEPT) known.clear();
  const zone = resolved(text);
  known.set(text, zone);
  return zone;
}

function resolved(text: string): string | undefined {
  try {
    const name = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
    return RENAMED[name] ?? name;
  } catch (error) {
    if (error instanceof RangeError) return undefined; // not in the time zone database
    throw error;
  }
}
