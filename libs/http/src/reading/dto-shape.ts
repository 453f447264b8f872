// @ts-expect-error class-transformer declares the types of its storage at another path than the storage
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { TransformationType } from 'class-transformer';
import type { MetadataStorage } from 'class-transformer/types/MetadataStorage.js';
import { getMetadataStorage } from 'class-validator';
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

/** What class-transformer would make of a field's value by its `@Transform`; the value itself where there is none. */
export function transformed(dto: Dto, field: string, object: object, value: unknown): unknown {
  const metadatas = nestedTypes.findTransformMetadatas(dto, field, TransformationType.PLAIN_TO_CLASS);
  return metadatas.reduce<unknown>(
    (made, { transformFn }) =>
      transformFn({
        value: made,
        key: field,
        obj: object,
        type: TransformationType.PLAIN_TO_CLASS,
        options: {},
      }) as unknown,
    value,
  );
}

/** The class of a nested DTO, from its `@Type`; undefined if there is none, or if it depends on the value. */
export function nestedDto(dto: Dto, field: string): Dto | undefined {
  const metadata = nestedTypes.findTypeMetadata(dto, field);
  if (!metadata?.typeFunction || metadata.options?.discriminator) return undefined;
  const nested: unknown = metadata.typeFunction({ newObject: {}, object: {}, property: field });
  return typeof nested === 'function' ? (nested as Dto) : undefined;
}
