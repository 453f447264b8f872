import { ApiProperty } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import type { Dto } from '../endpoints/route-declaration.js';
import { fieldsOf } from '../reading/dto-shape.js';
import { propertySchema } from './property-schema.js';

const DESCRIBED = 'swagger/apiModelProperties';

/** Describes every validated field of every DTO class that has no `@ApiProperty` of its own. */
export function describeDtos(): void {
  for (const dto of validatedClasses()) {
    for (const field of fieldsOf(dto)) {
      if (Reflect.hasMetadata(DESCRIBED, dto.prototype as object, field)) continue;
      const { required, isArray, nested, schema } = propertySchema(dto, field);
      const type = nested ? { type: () => nested, isArray } : schema;
      ApiProperty({ ...type, required })(dto.prototype as object, field);
    }
  }
}

function validatedClasses(): Dto[] {
  // The storage keeps its metadata by class, in a map its types call private.
  const storage = getMetadataStorage() as unknown as { validationMetadatas: Map<unknown, unknown> };
  return [...storage.validationMetadatas.keys()].filter(
    (target): target is Dto => typeof target === 'function',
  );
}
