import { ApiProperty } from '@nestjs/swagger';
import { PatchOf } from '@customer-platform/http';
import { IsObject } from 'class-validator';

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
