import type { Type } from '@nestjs/common';
import { OmitType, PartialType } from '@nestjs/swagger';
import { DESCRIBED, type Said } from '../openapi/said-properties.js';
import { fieldsOf } from './dto-shape.js';
import { IsImmutable } from './field-decorators.js';

/**
 * The body of a PATCH (JSON merge) from the body of the POST: every field may be absent and is else validated as there;
 * null is taken only where it is taken there. What is absent stays as it is, so that defaults are not described. The
 * `immutable` fields are refused as such.
 * @throws Error if the body sets a field by itself, which would overwrite what the caller left out
 */
export function PatchOf<T extends object, K extends keyof T & string = never>(
  body: Type<T>,
  { immutable = [] }: { readonly immutable?: readonly K[] } = {},
): Type<Partial<Omit<T, K>>> {
  const Patch = PartialType(OmitType(body, immutable), { skipNullProperties: false });
  const prototype = Patch.prototype as object;
  const set = Object.entries(new Patch()).filter(([, value]) => value !== undefined);
  if (set.length > 0) throw new Error(`${body.name} sets ${set.map(([name]) => name).join(', ')} by itself`);
  for (const field of immutable) IsImmutable()(prototype, field);
  for (const field of fieldsOf(Patch)) {
    const said = Reflect.getOwnMetadata(DESCRIBED, prototype, field) as Said | undefined;
    if (!said) continue;
    const { default: _default, ...shown } = said;
    Reflect.defineMetadata(DESCRIBED, shown, prototype, field);
  }
  return Patch;
}
