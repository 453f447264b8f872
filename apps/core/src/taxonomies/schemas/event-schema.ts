/** The version of JSON Schema that taxonomies are written in. */
export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Kinds of value that a schema names. */
type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** The part of JSON Schema 2020-12 that schemas of events are made of: see `checkSchema` for its bounds. */
export interface ValueSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type: ValueType | readonly ValueType[];
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean | null;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: ValueSchema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly additionalProperties?: boolean | ValueSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** The schema of the properties of an event. */
export interface EventSchema extends ValueSchema {
  readonly type: 'object';
}
