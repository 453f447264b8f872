import { readMailDomain } from '@customer-platform/http';

/** A domain as it is compared: in lower case and, where it has other letters, in punycode. Undefined for what is none. */
export const domainName = readMailDomain;

/** The domain of an e-mail address. */
export function domainOf(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  return at <= 0 ? undefined : domainName(email.slice(at + 1));
}
