import { isDay, parseInstant } from '@customer-platform/http';

const LONGEST_INSTANT = 64;
const LONGEST_EMAIL = 254;
const LONGEST_URI = 2_048;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A character left and right of one @, and no blank: whether it is somebody's only a message shows. */
function isEmail(text: string): boolean {
  if (text.length > LONGEST_EMAIL || /\s/.test(text)) return false;
  const at = text.indexOf('@');
  return at > 0 && at < text.length - 1 && text.indexOf('@', at + 1) === -1;
}

/** The formats that a schema may name. Each looks at its length first, and then takes linear time. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => text.length <= LONGEST_INSTANT && parseInstant(text) !== undefined,
  date: isDay,
  email: isEmail,
  uri: (text) => text.length <= LONGEST_URI && URL.canParse(text),
  uuid: (text) => UUID.test(text),
};
