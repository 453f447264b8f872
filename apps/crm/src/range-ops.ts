import type { FilterOp } from '@customer-platform/http';

/** How lists are filtered by a time that every row has. */
export const RANGES: readonly FilterOp[] = ['eq', 'gt', 'gte', 'lt', 'lte'];
