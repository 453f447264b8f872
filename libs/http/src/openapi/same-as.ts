import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { Dto } from '../endpoints/route-declaration.js';
import { fieldsOf } from '../reading/dto-shape.js';
import { completed } from './complete-property.js';
import { propertySchema, STORABLE_TEXT } from './property-schema.js';
import { saidOf, type Said } from './said-properties.js';

/** The order in which an answer's bounds are shown. */
const FIRST = ['type', 'format', 'minLength', 'maxLength', 'pattern', 'minimum', 'maximum'];

/**
 * The field of an answer is described as the field of that name in a body, by what validates it there, so that its
 * bounds are written once. It is always there, has no default, and `more` says what differs.
 * @throws Error if the body has no such field
 */
export function SameAs(body: Dto, more: ApiPropertyOptions = {}): PropertyDecorator {
  return (target, name) => {
    const field = String(name);
    if (!fieldsOf(body).has(field)) throw new Error(`${body.name} has no validated field ${field}`);
    const property = propertySchema(body, field);
    const said = saidOf(body.prototype as object, field) ?? {};
    const {
      required: _required,
      selfRequired: _selfRequired,
      default: _default,
      ...shown
    } = completed(said, property);
    // What is answered was stored already.
    if (shown['pattern'] === STORABLE_TEXT && !('pattern' in said)) delete shown['pattern'];
    const known = FIRST.filter((keyword) => keyword in shown);
    const ordered: Said = Object.fromEntries(known.map((keyword) => [keyword, shown[keyword]]));
    ApiProperty({ ...ordered, ...shown, ...more })(target, name);
  };
}
