import { applyDecorators } from '@nestjs/common';
import { IsEmail, IsString, MaxLength } from 'class-validator';
import { custom } from '@customer-platform/http';

/** The longest address (RFC 5321 §4.5.3.1.3, without the angle brackets), and what the tables take. */
const LONGEST = 254;

/** Whether an address is short enough, also as it is kept, in lower case: some letters (İ) are two when lowered. */
export function isShortAddress(address: string): boolean {
  return address.length <= LONGEST && address.toLowerCase().length <= LONGEST;
}

/** An e-mail address, as it was sent and as it is kept. */
export function IsEmailAddress(): PropertyDecorator {
  return applyDecorators(
    IsEmail({ ignore_max_length: true }),
    custom('isShortWhenLowered', isShortWhenLowered, {
      message: `$property has at most ${String(LONGEST)} characters in lower case`,
      context: { code: 'too_long' },
    }),
    MaxLength(LONGEST),
    IsString(),
  );
}

/** What is too long as it was sent is told once. */
function isShortWhenLowered(value: unknown): boolean {
  return typeof value !== 'string' || value.length > LONGEST || isShortAddress(value);
}
