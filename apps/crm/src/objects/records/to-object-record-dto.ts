import { shownValues } from '../../fields/field-values.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import type { ObjectRecordDto } from './object-record.dto.js';
import type { ShownRecord } from './object-records.service.js';
import type { RecordRow } from './record-row.js';

/** A record as the API answers it. */
export function toObjectRecordDto({ definition, record }: ShownRecord): ObjectRecordDto {
  return {
    id: record.id,
    values: shownValues(definition.fields, record.values),
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    deleted_at: record.deletedAt?.toISOString() ?? null,
  };
}

/** The same of a row of a page. */
export function rowToObjectRecordDto(definition: KnownDefinition, row: RecordRow): ObjectRecordDto {
  const { id, values, created_at: createdAt, updated_at: updatedAt, deleted_at: deletedAt } = row;
  return toObjectRecordDto({ definition, record: { id, values, createdAt, updatedAt, deletedAt } });
}
