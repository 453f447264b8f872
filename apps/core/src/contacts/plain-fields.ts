/** The fields of a contact that hold one text each, in the order in which they are shown. */
export const PLAIN_FIELDS = [
  'external_id',
  'email',
  'phone',
  'first_name',
  'last_name',
  'birth_date',
  'locale',
  'timezone',
  'country',
] as const;
