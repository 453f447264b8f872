import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { custom } from '@customer-platform/http';

/** A password's length in characters (identity.md §3). No rule says which characters. */
export const PASSWORD_LENGTH = { least: 15, most: 128 } as const;

/** A password that is to be set (identity.md §3): so long, in characters; whether it is common is looked at later. */
export function IsPassword({ description }: { description: string }): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', writeOnly: true, minLength: PASSWORD_LENGTH.least, description }),
    IsString(),
    MaxLength(PASSWORD_LENGTH.most),
    custom('isLongEnough', (value) => lengthOf(value) >= PASSWORD_LENGTH.least, {
      message: `$property has at least ${String(PASSWORD_LENGTH.least)} characters`,
      context: { code: 'too_short' },
    }),
    custom('isShortEnough', (value) => lengthOf(value) <= PASSWORD_LENGTH.most, {
      message: `$property has at most ${String(PASSWORD_LENGTH.most)} characters`,
      context: { code: 'too_long' },
    }),
  );
}

/** In characters, as the person counts them. */
function lengthOf(value: unknown): number {
  return typeof value === 'string' ? [...value].length : 0;
}
