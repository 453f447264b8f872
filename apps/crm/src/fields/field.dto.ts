import { LONGEST_TEXT, MOST_OPTIONS, USUAL_TEXT } from './field.js';
import { LONGEST_LABEL } from './refusals.js';

const KEY = { type: 'string', pattern: '^[a-z][a-z0-9_]{1,39}$' } as const;
const LABEL = { type: 'string', minLength: 1, maxLength: LONGEST_LABEL } as const;
const FLAG = { type: 'boolean', default: false } as const;
const COMMON = { key: KEY, label: LABEL, required: FLAG, archived: FLAG } as const;
const BOUND = {
  type: 'number',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  nullable: true,
  default: null,
} as const;
const OPTION = {
  type: 'object',
  required: ['value'],
  additionalProperties: false,
  properties: { value: { type: 'string', minLength: 1, maxLength: 200 }, label: LABEL, archived: FLAG },
} as const;

type Schema = Record<string, object>;

const variant = (types: string[], own: Schema = {}, required: string[] = []) => ({
  type: 'object' as const,
  required: ['key', 'type', ...required],
  additionalProperties: false,
  properties: { ...COMMON, type: { type: 'string' as const, enum: types }, ...own },
});

/** The types that hold a value of their own; `further` are members that fields of all types have. */
const valueVariants = (further: Schema = {}) => [
  variant(['string'], {
    max_length: { type: 'integer', minimum: 1, maximum: LONGEST_TEXT, default: USUAL_TEXT },
    ...further,
  }),
  variant(['integer', 'number'], { min: BOUND, max: BOUND, ...further }),
  variant(['boolean', 'date', 'datetime'], further),
  variant(
    ['enum'],
    { options: { type: 'array', minItems: 1, maxItems: MOST_OPTIONS, items: OPTION }, ...further },
    ['options'],
  ),
];

const objectVariants = (further: Schema) => [
  ...valueVariants(further),
  variant(
    ['reference'],
    {
      target: {
        type: 'string',
        pattern: '^(contact|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
        description: '`contact`, or the id of a definition.',
      },
      on_erasure: {
        type: 'string',
        enum: ['delete', 'clear'],
        description: 'Of references to contacts only: what becomes of the record. Unless given, `delete`.',
      },
      ...further,
    },
    ['target'],
  ),
];

const INDEXING: Schema = {
  unique: { ...FLAG, description: 'Among active records; implies `indexed`.' },
  indexed: { ...FLAG, description: 'Whether lists filter and sort by it.' },
};

/** Definitions of fields in the OpenAPI document. */
export const FIELD_SCHEMA = { oneOf: valueVariants() };

/** The same of custom objects. */
export const OBJECT_FIELD_SCHEMA = { oneOf: objectVariants(INDEXING) };

/** As they are answered. */
export const SHOWN_OBJECT_FIELD_SCHEMA = {
  oneOf: objectVariants({
    ...INDEXING,
    index_state: {
      type: 'string',
      enum: ['building', 'ready'],
      nullable: true,
      description: 'Null of a field that is not indexed.',
    },
    index_progress: {
      type: 'object',
      description:
        'Records that the index holds already, and those that there were, while it is being built.',
      required: ['processed', 'total'],
      additionalProperties: false,
      properties: { processed: { type: 'integer' }, total: { type: 'integer' } },
    },
  }),
};
