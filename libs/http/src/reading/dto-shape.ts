// @ts-expect-error class-transformer declares the types of its storage at another path than the storage
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import type { MetadataStorage } from 'class-transformer/types/MetadataStorage.js';
import { getMetadataStorage } from 'class-validator';
import type { FieldError } from '@customer-platform/problem-json';
import { pointerToken } from '../json/check-json.js';
import type { Dto } from '../endpoints/route-declaration.js';

const nestedTypes = defaultMetadataStorage as MetadataStorage;
const fieldsOfDto = new WeakMap<Dto, ReadonlySet<string>>();

/** The names of the fields that a DTO class validates; any other is unknown. */
export function fieldsOf(dto: Dto): ReadonlySet<string> {
  const known = fieldsOfDto.get(dto);
  if (known) return known;
  const metadatas = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const fields = new Set(metadatas.map(({ propertyName }) => propertyName));
  fieldsOfDto.set(dto, fields);
  return fields;
}

/** The class of a nested DTO, from its `@Type`; undefined if there is none, or if it depends on the value. */
export function nestedDto(dto: Dto, field: string): Dto | undefined {
  const metadata = nestedTypes.findTypeMetadata(dto, field);
  if (!metadata?.typeFunction || metadata.options?.discriminator) return undefined;
  const nested: unknown = metadata.typeFunction({ newObject: {}, object: {}, property: field });
  return typeof nested === 'function' ? (nested as Dto) : undefined;
}

/**
 * The fields of a body that its DTO does not know, by pointer. Looked for in the body itself, before it becomes an
 * instance: class-transformer skips a member that is named like a method, and class-validator takes one that is named
 * like a method of Object (`hasOwnProperty`); both would ignore a typo in silence.
 */
export function unknownFields(dto: Dto, value: unknown, pointer = ''): FieldError[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => unknownFields(dto, item, `${pointer}/${index}`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const allowed = fieldsOf(dto);
  return Object.entries(value).flatMap(([key, member]): FieldError[] => {
    const place = `${pointer}/${pointerToken(key)}`;
    if (!allowed.has(key)) {
      const detail = `There is no field \`${key.slice(0, 100)}\` here. Allowed: ${[...allowed].join(', ')}.`;
      return [{ pointer: place, code: 'unknown_field', detail }];
    }
    const nested = nestedDto(dto, key);
    return nested ? unknownFields(nested, member, place) : [];
  });
}
