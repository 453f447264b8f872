import { ApiProperty } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import type { Dto } from '../endpoints/route-declaration.js';
import { fieldsOf } from '../reading/dto-shape.js';
import { propertySchema } from './property-schema.js';

const DESCRIBED = 'swagger/apiModelProperties';

/**
 * Describes every validated field of every DTO class by what validates it. What an `@ApiProperty` says stands, and is
 * completed; a field that is always refused (`@IsImmutable`) is none of the body.
 */
export function describeDtos(): void {
  for (const dto of validatedClasses()) {
    const prototype = dto.prototype as object;
    for (const field of fieldsOf(dto)) {
      const { required, refused, isArray, nested, schema } = propertySchema(dto, field);
      const said = Reflect.getMetadata(DESCRIBED, prototype, field) as object | undefined;
      if (refused) continue;
      if (said === undefined) {
        const type = nested ? { type: () => nested, isArray } : schema;
        ApiProperty({ ...type, required })(prototype, field);
      } else if (!nested && !isArray && !('enum' in said)) {
        const { type: validated, ...limits } = schema;
        // TypeScript tells no more of `number | null` than that it is an object, and nothing of whole numbers.
        const vague = 'type' in said && (said.type === Object || said.type === Number);
        const unknown = vague && validated !== undefined;
        const type = unknown ? { type: validated } : {};
        Reflect.defineMetadata(DESCRIBED, { ...limits, ...said, ...type }, prototype, field);
      }
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
