import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { custom, IsImmutable, IsInstant, MayBeAbsent, MayBeNull, type ListDefinition } from '../src/index.js';

/** A nested part of a {@link ThingDto}. */
class PartDto {
  @IsString()
  @MaxLength(10)
  name: string;
}

/** A body with one field of each kind. */
export class ThingDto {
  @Length(1, 20)
  name: string;

  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(9)
  size?: number;

  @MayBeAbsent()
  @MayBeNull()
  @IsIn(['red', 'blue'])
  color?: 'red' | 'blue' | null;

  @MayBeAbsent()
  @IsInstant()
  at?: string;

  @MayBeAbsent()
  @custom('notAnonymous', (value) => value !== 'anonymous', { context: { code: 'placeholder_identifier' } })
  external_id?: string;

  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(2)
  @ValidateNested({ each: true })
  @Type(() => PartDto)
  parts?: PartDto[];
}

/** A patch, which says less than it takes: one field is described in part, one is never taken. */
export class ThingPatchDto extends ThingDto {
  @ApiProperty({ description: 'What it is called.' })
  declare name: string;

  @ApiProperty({ required: false, nullable: true })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  weight?: number | null;

  @ApiProperty({ required: false, description: 'How many.' })
  @MayBeAbsent()
  @IsInt()
  count?: number;

  @IsImmutable()
  owner_id?: unknown;
}

/** A query that is no list. */
export class ReportQuery {
  @MayBeAbsent()
  @IsIn(['day', 'month'])
  granularity?: 'day' | 'month';
}

/** What the list of things takes. */
export const thingList: ListDefinition = {
  resource: 'things',
  filters: {
    name: { type: 'string', column: 'name', ops: ['eq', 'ne', 'in', 'prefix', 'is_null'] },
    owner_id: { type: 'uuid', column: 'owner_id' },
    state: { type: 'enum', column: 'state', values: ['open', 'closed'] },
    created_at: { type: 'time', column: 'created_at' },
    size: { type: 'integer', column: 'size' },
    ratio: { type: 'number', column: 'ratio' },
    day: { type: 'date', column: 'day' },
    done: { type: 'boolean', column: 'done' },
  },
  sorts: {
    created_at: { column: 'created_at', type: 'time' },
    name: { column: 'name', type: 'string', nulls: 'last' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
  timelineSource: { occurredAt: 'occurred_at' },
  extraParameters: { view: { type: 'enum', values: ['short', 'long'] } },
};
