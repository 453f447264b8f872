import type { ListDefinition } from '@customer-platform/http';
import { IMPORT_STATES } from './import.row.js';

/** What `GET /v1/core/imports` takes. */
export const IMPORT_LIST: ListDefinition = {
  resource: 'core.imports',
  filters: {
    state: { type: 'enum', column: 'state', values: IMPORT_STATES },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
};

/** Of the errors that `GET /v1/core/imports/{id}` shows: in the order of the file. */
export const IMPORT_ERROR_LIST: ListDefinition = {
  resource: 'core.imports.errors',
  filters: { code: { type: 'string', column: 'code' } },
  sorts: { line: { type: 'integer', column: 'place', only: 'asc' } },
  defaultSort: 'line',
  tieBreaker: { field: 'line', column: 'place', type: 'integer' },
};
