import type { AuditContext } from '@customer-platform/audit';
import type { Actor } from '@customer-platform/http';
import type { ImportOptions } from './import-options.js';
import type { FormsOfNumbers } from './reading/number-forms.js';

/** What can be the matter with an import. */
export const IMPORT_STATES = ['queued', 'running', 'completed', 'failed'] as const;

/** Why an import came to no end. */
export const IMPORT_FAILURES = ['file_unavailable'] as const;

/** A row of the table of imports. */
export interface ImportTableRow {
  organization_id: string;
  id: string;
  state: (typeof IMPORT_STATES)[number];
  options: ImportOptions;
  /** Of the header; of JSON lines the members of the first. */
  columns: string[];
  /** Null where the delimiter decides, and of files that the release before has taken. */
  number_forms: FormsOfNumbers | null;
  /** Text, as PostgreSQL gives large integers. */
  file_bytes: string;
  file_rows: number;
  file_sha256: string;
  /** Null once the import has ended. */
  file_key: string | null;
  position: string;
  line: number;
  created_rows: number;
  updated_rows: number;
  unchanged_rows: number;
  skipped_rows: number;
  failed_rows: number;
  errors: number;
  failure_code: (typeof IMPORT_FAILURES)[number] | null;
  actor_type: Actor['type'];
  actor_id: string;
  impersonator_id: string | null;
  correlation_id: string;
  started_at: Date | null;
  ended_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** The columns of {@link ImportTableRow}. */
export const IMPORT_COLUMNS = `organization_id, id, state, options, columns, number_forms, file_bytes, file_rows, file_sha256, file_key,
  position, line, created_rows, updated_rows, unchanged_rows, skipped_rows, failed_rows, errors, failure_code, actor_type,
  actor_id, impersonator_id, correlation_id, started_at, ended_at, created_at, updated_at`;

/** Who acts when rows are written: whoever sent the file. */
export function contextOfImport(row: ImportTableRow): AuditContext {
  const { actor_type: type, actor_id: id, impersonator_id: impersonatorId } = row;
  return {
    organizationId: row.organization_id,
    actor: { type, id, ...(impersonatorId === null ? {} : { impersonatorId }) },
    correlationId: row.correlation_id,
  };
}
