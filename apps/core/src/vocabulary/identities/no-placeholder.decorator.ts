import { custom } from '@customer-platform/http';
import { isPlaceholder } from './placeholder-identifiers.js';

/** Refuses what programs send when they have no identifier (core.md §3). */
export function IsNoPlaceholder(): PropertyDecorator {
  return custom('isNoPlaceholder', (value) => typeof value !== 'string' || !isPlaceholder(value), {
    message: '$property stands for no identifier',
    context: { code: 'placeholder_identifier' },
  });
}
