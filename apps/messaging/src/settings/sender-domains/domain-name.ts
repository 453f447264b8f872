import { readMailDomain } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { getDomain, parse } from 'tldts';

const LISTED = { allowPrivateDomains: true };

/**
 * A domain that an organization can have, in lower case and A-labels.
 * @throws Problem `validation_failed`: no domain, an address, or a suffix under which others register theirs
 */
export function senderDomain(text: string): string {
  const domain = readMailDomain(text);
  if (domain === undefined) throw refusal('Expected a domain such as mail.example.com.');
  const { isIp, publicSuffix } = parse(domain, LISTED);
  if (isIp === true) throw refusal('An address is no domain.');
  if (publicSuffix === domain) throw refusal('This is a public suffix: nobody’s own domain.');
  return domain;
}

/** The domain under which its owner registered this one. */
export function organizationalDomain(domain: string): string {
  return getDomain(domain, LISTED) ?? domain;
}

/** Whether a name lies in the public DNS: what a hostile record names is asked for nowhere else. */
export function isPublicName(name: string): boolean {
  const { isIcann, isPrivate } = parse(name, LISTED);
  return isIcann === true || isPrivate === true;
}

function refusal(detail: string): Problem {
  return Problem.validation([{ pointer: '/domain', code: 'invalid_format', detail }]);
}
