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

const variant = (types: string[], own: object = {}, required: string[] = []) => ({
  type: 'object' as const,
  required: ['key', 'type', ...required],
  additionalProperties: false,
  properties: { ...COMMON, type: { type: 'string' as const, enum: types }, ...own },
});

/** Definitions of fields in the OpenAPI document. */
export const FIELD_SCHEMA = {
  oneOf: [
    variant(['string'], {
      max_length: { type: 'integer', minimum: 1, maximum: LONGEST_TEXT, default: USUAL_TEXT },
    }),
    variant(['integer', 'number'], { min: BOUND, max: BOUND }),
    variant(['boolean', 'date', 'datetime']),
    variant(['enum'], { options: { type: 'array', minItems: 1, maxItems: MOST_OPTIONS, items: OPTION } }, [
      'options',
    ]),
  ],
};
