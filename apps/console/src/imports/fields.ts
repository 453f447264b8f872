import { CONTACT_FIELD_NAMES, CONTACT_FIELDS } from '../people/contact-fields.ts';

/** What a column can fill by name; an attribute or a consent has a name of its own behind the dot. */
export const FIELDS = [
  ...CONTACT_FIELD_NAMES,
  'national_id.CL_RUT',
  'consents.marketing',
  'consents.marketing.email',
  'consents.notice_version',
] as const;

const WORDS: readonly (readonly [field: (typeof FIELDS)[number], pattern: RegExp])[] = [
  ...CONTACT_FIELD_NAMES.map((field) => [field, CONTACT_FIELDS[field].columns] as const),
  ['national_id.CL_RUT', /^(rut|run)$/],
];

/** What columns of these names seem to fill, each field once; the others are attributes of their own names. */
export function guessMapping(columns: readonly string[]): Record<string, string> {
  const taken = new Set<string>();
  return Object.fromEntries(
    columns.map((column) => {
      const word = column
        .normalize('NFKD')
        .replaceAll(/[\u0300-\u036f]/g, '')
        .toLowerCase()
        .trim()
        .replaceAll(/[^a-z0-9]+/g, '_');
      const field = WORDS.find(([name, pattern]) => pattern.test(word) && !taken.has(name))?.[0];
      if (field !== undefined) taken.add(field);
      return [column, field ?? (word === '' ? '' : `attributes.${word}`)];
    }),
  );
}

/** As the API takes it: what is left empty is left out. */
export function mappingOf(fields: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(fields).map(([column, field]) => [column, field.trim() === '' ? null : field.trim()]),
  );
}
