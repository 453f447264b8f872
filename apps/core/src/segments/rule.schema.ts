import type { ApiPropertyOptions } from '@nestjs/swagger';
import { CONSENT_CHANNELS, STATES } from '../vocabulary/consents/consent.js';
import { COUNT_OPS, OPS } from '../vocabulary/rules/rule.js';
import { RULE_FIELDS } from '../vocabulary/rules/vocabulary.js';

type Schema = NonNullable<Extract<ApiPropertyOptions, { items?: unknown }>['items']>;

const GROUP = { type: 'array', minItems: 1, maxItems: 50, items: { type: 'object' } } as const;
const VALUE: Schema = {
  description:
    'What it is compared with: a list of 1 to 100 for `in`, true or false for `exists`, an ISO 8601 duration for ' +
    '`within_last`. A text has at most 1,000 characters, for `contains` and `prefix` at most 200.',
};
const DURATION: Schema = {
  type: 'string',
  format: 'duration',
  description: 'ISO 8601, 1 minute to 3,650 days.',
};

const CONDITION: Schema = {
  type: 'object',
  required: ['property', 'op', 'value'],
  additionalProperties: false,
  properties: {
    property: { type: 'string', description: 'Dotted path in `properties`.' },
    op: { type: 'string', enum: [...OPS] },
    value: VALUE,
  },
};

const EVENT: Schema = {
  type: 'object',
  required: ['event'],
  additionalProperties: false,
  properties: {
    event: { type: 'string', minLength: 1, maxLength: 200 },
    where: { type: 'array', maxItems: 50, items: CONDITION },
    count: {
      type: 'object',
      description: 'How many events match; default at least one.',
      required: ['op', 'value'],
      additionalProperties: false,
      properties: { op: { type: 'string', enum: [...COUNT_OPS] }, value: { type: 'integer', minimum: 0 } },
    },
    within: DURATION,
  },
};

const ATTRIBUTE: Schema = {
  type: 'object',
  required: ['attribute', 'op', 'value'],
  additionalProperties: false,
  properties: {
    attribute: {
      type: 'string',
      description: `\`attributes.<key>\`, or one of ${RULE_FIELDS.join(', ')}.`,
      example: 'attributes.plan',
    },
    op: { type: 'string', enum: [...OPS] },
    value: VALUE,
  },
};

const CONSENT: Schema = {
  type: 'object',
  required: ['consent', 'status'],
  additionalProperties: false,
  properties: {
    consent: {
      type: 'object',
      required: ['purpose'],
      additionalProperties: false,
      properties: {
        purpose: { type: 'string' },
        channel: { type: 'string', enum: [...CONSENT_CHANNELS], nullable: true },
      },
    },
    status: { type: 'string', enum: [...STATES] },
  },
};

/** A rule as the API describes it; groups hold rules again, at most 8 levels deep and with 50 leaves in all. */
export const RULE_SCHEMA: { oneOf: Schema[]; description: string } = {
  description: 'Groups hold rules again; at most 8 levels deep, with at most 50 leaves, in at most 32 KiB.',
  oneOf: [
    EVENT,
    ATTRIBUTE,
    CONSENT,
    ...(['all', 'any'] as const).map((kind): Schema => {
      return { type: 'object', required: [kind], additionalProperties: false, properties: { [kind]: GROUP } };
    }),
    {
      type: 'object',
      required: ['not'],
      additionalProperties: false,
      properties: { not: { type: 'object' } },
    },
  ],
};
