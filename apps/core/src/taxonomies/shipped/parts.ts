import { DIALECT, type ValueSchema } from '../schemas/event-schema.js';
import type { DescribedEvent } from '../taxonomy.js';

type Properties = Readonly<Record<string, ValueSchema>>;

/** A text of at most so many characters, never empty. */
export const text = (description: string, maxLength = 200): ValueSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength,
});

/** One of these words. */
export const oneOf = (description: string, ...words: readonly string[]): ValueSchema => ({
  type: 'string',
  description,
  enum: words,
});

/** Money in minor units, from zero; of what currency the property beside it says. */
export const amount = (description: string): ValueSchema => ({ type: 'integer', description, minimum: 0 });

export const currency: ValueSchema = {
  type: 'string',
  description: 'Currency of the amounts: ISO 4217.',
  maxLength: 3,
  pattern: '^[A-Z]{3}$',
};

/** How many, from `minimum`. */
export const count = (description: string, minimum = 1): ValueSchema => ({
  type: 'integer',
  description,
  minimum,
});

export const flag = (description: string): ValueSchema => ({ type: 'boolean', description });
export const instant = (description: string): ValueSchema => ({
  type: 'string',
  description,
  format: 'date-time',
  maxLength: 64,
});
export const day = (description: string): ValueSchema => ({
  type: 'string',
  description,
  format: 'date',
  maxLength: 10,
});
export const address = (description: string): ValueSchema => ({
  type: 'string',
  description,
  format: 'uri',
  maxLength: 2_048,
});

export const object = (
  description: string,
  required: readonly string[],
  properties: Properties,
): ValueSchema => ({
  type: 'object',
  description,
  ...(required.length > 0 ? { required } : {}),
  properties,
});

export const list = (description: string, items: ValueSchema, maxItems = 100): ValueSchema => ({
  type: 'array',
  description,
  maxItems,
  items,
});

/** What is told of an event: its meaning, the properties that must be there, all that are described, and an example. */
export function event(
  name: string,
  description: string,
  {
    required = [],
    properties,
    example,
  }: { required?: readonly string[]; properties: Properties; example: object },
): DescribedEvent {
  return {
    name,
    schema: {
      $schema: DIALECT,
      title: name,
      description,
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties,
    },
    example: { ...example },
  };
}
