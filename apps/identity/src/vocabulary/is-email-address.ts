import { domainToUnicode } from 'node:url';
import { applyDecorators } from '@nestjs/common';
import { IsString, MaxLength } from 'class-validator';
import { custom, LONGEST_EMAIL, readEmail } from '@customer-platform/http';

/** An e-mail address that mail can be sent to, as every module reads them. */
export function IsEmailAddress(): PropertyDecorator {
  return applyDecorators(
    custom('isEmail', (value) => typeof value !== 'string' || readEmail(value) !== undefined, {
      message: '$property must be an e-mail address',
    }),
    MaxLength(LONGEST_EMAIL),
    IsString(),
  );
}

/**
 * An address as it is kept and counted: in lower case, its domain in the letters of its own language. What is none, but
 * was taken for one before, is only lowered; here, for the database's own rules differ for some letters.
 */
export function keptAddress(text: string): string {
  const read = readEmail(text);
  if (!read) return text.trim().toLowerCase();
  const { canonical, domain } = read;
  return canonical.slice(0, -domain.length) + domainToUnicode(domain);
}

/** The forms under which a user may stand who names themselves so: as it was sent comes first, as before. */
export function addressForms(text: string): string[] {
  const canonical = readEmail(text)?.canonical;
  return [...new Set([text.trim().toLowerCase(), keptAddress(text), ...(canonical ? [canonical] : [])])];
}

/** Tells whether an address that was taken before is short enough, also in lower case: some letters (İ) are two then. */
export function isShortAddress(address: string): boolean {
  return address.length <= LONGEST_EMAIL && address.toLowerCase().length <= LONGEST_EMAIL;
}
