import type { ItemOf } from '@customer-platform/client';

export type AttributeType = ItemOf<'/v1/core/attribute-definitions'>['type'];

export const TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'string_list',
] as const satisfies readonly AttributeType[];
