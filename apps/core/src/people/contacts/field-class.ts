import type { Type } from '@nestjs/common';

/**
 * Makes a class whose properties are each decorated as one written down would be, for others to extend: of what a table
 * says of fields, an entity or a DTO.
 */
export function classOf<Properties extends object>(
  names: readonly (keyof Properties & string)[],
  decorate: (name: keyof Properties & string) => readonly PropertyDecorator[],
): Type<Properties> {
  class Fields {}
  for (const name of names) {
    Reflect.defineMetadata('design:type', String, Fields.prototype, name);
    for (const each of decorate(name)) each(Fields.prototype, name);
  }
  return Fields as Type<Properties>;
}
