import { ApiProperty } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import type { Dto } from '../endpoints/route-declaration.js';
import { fieldsOf } from '../reading/dto-shape.js';
import { completed, faultsOf } from './complete-property.js';
import { propertySchema } from './property-schema.js';
import { DESCRIBED, remember, saidOf, takenBodies } from './said-properties.js';

/** Where @nestjs/swagger keeps the names of the fields that a class describes, in their order. */
const NAMES = 'swagger/apiModelPropertiesArray';

/**
 * Describes every validated field of every DTO class by what validates it. An `@ApiProperty` says what no validator
 * knows (a description, an example, a default) and is completed; a field that is always refused (`@IsImmutable`) is
 * none of the body.
 * @throws Error naming every field whose `@ApiProperty` repeats a bound of its validators or contradicts them
 */
export function describeDtos(): void {
  const faults = new Set<string>();
  for (const dto of new Set([...validatedClasses(), ...takenBodies])) {
    const prototype = dto.prototype as object;
    let before: string | undefined;
    for (const field of fieldsOf(dto)) {
      const property = propertySchema(dto, field);
      if (property.refused) continue;
      const said = saidOf(prototype, field);
      if (said === undefined) {
        const { nested, required, schema } = property;
        ApiProperty(nested ? completed({}, property) : { ...schema, required })(prototype, field);
        place(prototype, field, before);
        remember(prototype, field, undefined);
      } else {
        for (const fault of faultsOf(said, property)) faults.add(`${dto.name}.${field}: ${fault}`);
        Reflect.defineMetadata(DESCRIBED, completed(said, property), prototype, field);
        remember(prototype, field, said);
      }
      before = field;
    }
  }
  if (faults.size > 0)
    throw new Error(`A description differs from its validators:\n${[...faults].join('\n')}`);
}

/** Puts a field where the class declares it: behind the one before it, and not behind all that had a description. */
function place(prototype: object, field: string, before: string | undefined): void {
  const names = (Reflect.getMetadata(NAMES, prototype) as string[]).filter((name) => name !== `:${field}`);
  const index = before === undefined ? 0 : names.indexOf(`:${before}`) + 1;
  Reflect.defineMetadata(NAMES, names.toSpliced(index, 0, `:${field}`), prototype);
}

function validatedClasses(): Dto[] {
  // The storage keeps its metadata by class, in a map its types call private.
  const storage = getMetadataStorage() as unknown as { validationMetadatas: Map<unknown, unknown> };
  return [...storage.validationMetadatas.keys()].filter(
    (target): target is Dto => typeof target === 'function',
  );
}
