import type { Dto } from '../endpoints/route-declaration.js';

/** What an `@ApiProperty` says of a field, and what it is completed to. */
export type Said = Record<string, unknown>;

/** Where @nestjs/swagger keeps the description of a field. */
export const DESCRIBED = 'swagger/apiModelProperties';

/** The classes that routes take as bodies: one of them may have no validator of its own, but its superclass's. */
export const takenBodies = new Set<Dto>();

/** What was said before a description was completed: a subclass, and a second document, begin with that again. */
const saidBefore = new WeakMap<object, Said | undefined>();

/** What the `@ApiProperty` of a field says, its superclass's included; undefined without one. */
export function saidOf(prototype: object, field: string): Said | undefined {
  const found = Reflect.getMetadata(DESCRIBED, prototype, field) as Said | undefined;
  return found && saidBefore.has(found) ? saidBefore.get(found) : found;
}

/** Notes that the description which a field has now was completed from this. */
export function remember(prototype: object, field: string, said: Said | undefined): void {
  saidBefore.set(Reflect.getMetadata(DESCRIBED, prototype, field) as object, said);
}
