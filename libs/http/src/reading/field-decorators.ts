import { Transform } from 'class-transformer';
import { registerDecorator, ValidateIf, type ValidationOptions } from 'class-validator';
import { parseInstant } from '../json/parse-instant.js';
import { isUuid } from '../json/uuids.js';
import { canonicalLocale } from './locales.js';
import { canonicalTimeZone } from './time-zones.js';

/** The field may be absent; unlike class-validator's `IsOptional`, null is then still checked as a value. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object: object, value: unknown) => value !== undefined);
}

/** The field may be null, which in a PATCH clears it. Without `MayBeAbsent` it must be given. */
export function MayBeNull(): PropertyDecorator {
  return ValidateIf((_object: object, value: unknown) => value !== null);
}

/** The field is an ISO 8601 time with an offset (the public contract, "Requests and answers"). */
export function IsInstant(options: ValidationOptions = {}): PropertyDecorator {
  return custom('isInstant', (value) => typeof value === 'string' && parseInstant(value) !== undefined, {
    message: '$property must be an ISO 8601 time with an offset, such as 2026-11-21T09:30:00Z',
    ...options,
  });
}

/**
 * The field is a UUID, of any version, and is read in lower case: the same id is one text. In place of class-validator's
 * of the same name, which asks for a version that neither the path, nor a filter, nor PostgreSQL does.
 */
export function IsUUID(options: ValidationOptions = {}): PropertyDecorator {
  const message = `${options.each ? 'each value in ' : ''}$property must be a UUID`;
  return (target, property) => {
    custom('isUuid', (value) => typeof value === 'string' && isUuid(value), { message, ...options })(
      target,
      property,
    );
    Transform(({ value }) => (Array.isArray(value) ? value.map(lowered) : lowered(value)))(target, property);
  };
}

const lowered = (value: unknown): unknown =>
  typeof value === 'string' && isUuid(value) ? value.toLowerCase() : value;

/** The field is a language tag such as `es-CL`. */
export function IsLocaleTag(options: ValidationOptions = {}): PropertyDecorator {
  return custom('isLocaleTag', (value) => typeof value === 'string' && canonicalLocale(value) !== undefined, {
    message: '$property must be a language tag such as es-CL',
    ...options,
  });
}

/** The field is an IANA time zone such as `America/Santiago`. */
export function IsTimeZoneName(options: ValidationOptions = {}): PropertyDecorator {
  return custom(
    'isTimeZoneName',
    (value) => typeof value === 'string' && canonicalTimeZone(value) !== undefined,
    {
      message: '$property must be an IANA time zone such as America/Santiago',
      ...options,
    },
  );
}

/**
 * The array holds no value twice, by what `key` makes of each. In place of class-validator's `ArrayUnique`, which
 * compares every item with every other (a megabyte of identifiers: minutes).
 */
export function IsWithoutRepeats(key: (item: unknown) => unknown = (item) => item): PropertyDecorator {
  return custom(
    'isWithoutRepeats',
    (value) => Array.isArray(value) && new Set(value.map(key)).size === value.length,
    { message: '$property holds an item twice' },
  );
}

/** A field that is set at creation and never again: given at all, it is refused as `immutable`. */
export function IsImmutable(): PropertyDecorator {
  return (target, property) => {
    MayBeAbsent()(target, property);
    custom('isImmutable', () => false, {
      message: '$property cannot be changed',
      context: { code: 'immutable' },
    })(target, property);
  };
}

/**
 * A constraint of one's own. Give it a published code with `{ context: { code: 'placeholder_identifier' } }` in the
 * options; without one the code is `invalid_format`.
 */
export function custom(
  name: string,
  accepts: (value: unknown, object: object) => boolean,
  options: ValidationOptions = {},
): PropertyDecorator {
  return (target, propertyName) => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(propertyName),
      options,
      validator: {
        validate: (value: unknown, given) => accepts(value, given?.object ?? {}),
        defaultMessage: () => '$property is not valid',
      },
    });
  };
}
