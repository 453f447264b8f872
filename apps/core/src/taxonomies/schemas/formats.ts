import { isDay, parseInstant, readEmail } from '@customer-platform/http';

const LONGEST_INSTANT = 64;
const LONGEST_URI = 2_048;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The formats that a schema may name. Each looks at its length first, and then takes linear time. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => text.length <= LONGEST_INSTANT && parseInstant(text) !== undefined,
  date: isDay,
  email: (text) => readEmail(text) !== undefined,
  uri: (text) => text.length <= LONGEST_URI && URL.canParse(text),
  uuid: (text) => UUID.test(text),
};
