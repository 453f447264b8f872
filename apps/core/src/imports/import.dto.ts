import { ApiProperty } from '@nestjs/swagger';
import type { ListDefinition } from '@customer-platform/http';
import { ImportOptionsDto } from './import-options.dto.js';
import { IMPORT_FAILURES, IMPORT_STATES, type ImportTableRow } from './import.row.js';

const count = (description?: string) =>
  ApiProperty({ type: 'integer', minimum: 0, ...(description === undefined ? {} : { description }) });

const instant = (description: string) =>
  ApiProperty({ type: String, format: 'date-time', nullable: true, description });

/** How many rows were done, and what became of them. */
class ImportRowsDto {
  @count('All that were done: the sum of the others.') total: number;
  @count() created: number;
  @count() updated: number;
  @count('There already, as the row says.') unchanged: number;
  @count('There already, and `on_existing` is `skip`.') skipped: number;
  @count('Have an error at least.') failed: number;
}

/** The file of an import. */
class ImportFileDto {
  @count('Of its content.') bytes: number;
  @count('All of its rows, without the header.') rows: number;
  @ApiProperty({
    description: 'Of its content, in hexadecimal.',
    example: 'e3b0c44298fc1c149afbf4c8996fb924',
  })
  sha256: string;
}

/** An import of contacts, without its errors. */
export class ImportSummaryDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ enum: IMPORT_STATES }) state: (typeof IMPORT_STATES)[number];
  @ApiProperty({ type: ImportOptionsDto }) options: ImportOptionsDto;
  @ApiProperty({ type: ImportFileDto }) file: ImportFileDto;
  @ApiProperty({ type: ImportRowsDto }) rows: ImportRowsDto;
  @ApiProperty({
    type: String,
    enum: [...IMPORT_FAILURES, null],
    nullable: true,
    description: 'Why it failed: its file was lost or damaged. What was done by then stays.',
  })
  failure_code: (typeof IMPORT_FAILURES)[number] | null;
  @instant('When its first rows were taken.') started_at: string | null;
  @instant('When it was completed or failed.') ended_at: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
}

/** What is wrong with a row. */
export class ImportErrorDto {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Of the file, on which the row begins.' })
  line: number;
  @ApiProperty({ type: String, nullable: true, description: 'Null where it is the row as a whole.' })
  column: string | null;
  @ApiProperty({ example: 'invalid_format' }) code: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The first 200 characters of what stands there; null for national ids, and of erased people.',
  })
  value: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What was expected; null where the code says all.',
    example: 'It must be a day, such as 2026-01-31, as its definition declares.',
  })
  detail: string | null;
}

/** Where a page of errors ends. */
class ImportErrorPageDto {
  @ApiProperty({ type: 'integer', minimum: 1 }) limit: number;
  @ApiProperty({ type: String, nullable: true }) next_cursor: string | null;
}

/** A page of the errors of an import, in the order of the file. */
class ImportErrorsDto {
  @ApiProperty({ type: [ImportErrorDto] }) data: ImportErrorDto[];
  @ApiProperty({ type: ImportErrorPageDto }) page: ImportErrorPageDto;
}

/** An import of contacts. */
export class ImportDto extends ImportSummaryDto {
  @ApiProperty({ type: ImportErrorsDto }) errors: ImportErrorsDto;
}

/** An import as the API answers it. */
export function toImportSummaryDto(row: ImportTableRow): ImportSummaryDto {
  const { created_rows: created, updated_rows: updated, unchanged_rows: unchanged } = row;
  const { skipped_rows: skipped, failed_rows: failed } = row;
  const total = created + updated + unchanged + skipped + failed;
  return {
    id: row.id,
    state: row.state,
    options: row.options,
    file: { bytes: Number(row.file_bytes), rows: row.file_rows, sha256: row.file_sha256 },
    rows: { total, created, updated, unchanged, skipped, failed },
    failure_code: row.failure_code,
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

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
