import { ApiProperty } from '@nestjs/swagger';
import { PatchOf } from '@customer-platform/http';
import { IsObject } from 'class-validator';
import { shownValues } from '../../fields/field-values.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import type { ShownRecord } from './object-records.service.js';
import type { RecordRow } from './record-row.js';

/** What `POST /v1/crm/objects/{slug}` takes. */
export class CreateObjectRecordDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'By the key of the definition’s fields; at most 64 KiB together.',
    example: { plate: 'KLMN45', year: 2024 },
  })
  @IsObject()
  values: Record<string, unknown>;
}

/** What `PATCH /v1/crm/objects/{slug}/{id}` takes: JSON merge, member by member in `values`. */
export class UpdateObjectRecordDto extends PatchOf(CreateObjectRecordDto) {}

/** A record as it is answered. */
export class ObjectRecordDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Every field of the definition that is not archived; null where it has none.',
  })
  values: Record<string, unknown>;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

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
