import { domainToASCII } from 'node:url';

const LONGEST = 253;
/** Two labels at least, and the last is no number: an address is no domain. */
const FORM =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** A domain as it is compared: in lower case and, where it has other letters, in punycode. Undefined for what is none. */
export function domainName(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  const ascii = domainToASCII(text).toLowerCase();
  return ascii.length <= LONGEST && FORM.test(ascii) ? ascii : undefined;
}

/** The domain of an e-mail address. */
export function domainOf(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  return at <= 0 ? undefined : domainName(email.slice(at + 1));
}
