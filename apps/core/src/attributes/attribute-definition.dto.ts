import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotIn,
  IsNumber,
  IsString,
  Length,
  Matches,
  Max,
  Min,
} from 'class-validator';
import {
  IsWithoutRepeats,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  type ListDefinition,
} from '@customer-platform/http';
import { KNOWN_TRAITS } from '../vocabulary/contacts/contact-field-table.js';
import {
  DECLARED_TYPES,
  ON_FAILURE,
  type DeclaredType,
  type Declaration,
  type OnFailure,
} from '../vocabulary/attributes/declaration.js';
import { declarationOf, type AttributeDefinition } from './attribute-definition.entity.js';
import type { ConversionRow } from './conversion/conversions.js';

/** Names that traits and rules use; a dot would be a path. */
const KEY = /^[A-Za-z_$][A-Za-z0-9_$-]{0,99}$/;
const LONGEST_LABEL = 100;
const LONGEST_TEXT = 10_000;
const MOST_VALUES = 200;

const onFailure = () =>
  ApiProperty({
    enum: ON_FAILURE,
    default: 'refuse',
    description:
      'What becomes of values that contacts have and that cannot be converted: `refuse` changes nothing and answers ' +
      '409, `clear` takes them away.',
  });

/** What says which values an attribute takes. */
export class DeclarationFieldsDto {
  @ApiProperty({ enum: DECLARED_TYPES })
  @IsIn(DECLARED_TYPES)
  type: DeclaredType;

  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    default: null,
    example: ['free', 'pro'],
    description:
      'The only values there are, of a list the only items. Of texts, lists and numbers. A text has at most 200 ' +
      'characters, and all together 16 KiB as JSON.',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_VALUES)
  @IsWithoutRepeats()
  enum?: (string | number)[] | null;

  @ApiProperty({ default: null, description: 'Characters of a text, of a list of each item.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  @Min(1)
  @Max(LONGEST_TEXT)
  max_length?: number | null;

  @ApiProperty({ default: null, description: 'Of numbers.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsNumber()
  min?: number | null;

  @ApiProperty({ default: null, description: 'Of numbers.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsNumber()
  max?: number | null;
}

/** The fields of a definition that can be written. */
class AttributeDefinitionFieldsDto extends DeclarationFieldsDto {
  @ApiProperty({ example: 'plan', description: 'The key of the attribute, byte by byte; set once.' })
  @IsString()
  @Matches(KEY)
  @IsNotIn(KNOWN_TRAITS, {
    context: { code: 'not_allowed' },
    message: 'key is the name of a field of contacts',
  })
  key: string;

  @ApiProperty({ example: 'Plan', description: 'What people read; the key unless given.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, LONGEST_LABEL)
  label?: string;

  @ApiProperty({ default: false, description: 'Whether members see their own value.' })
  @MayBeAbsent()
  @IsBoolean()
  member_visible?: boolean;

  @onFailure()
  @MayBeAbsent()
  @IsIn(ON_FAILURE)
  on_failure?: OnFailure;
}

/** What `POST /v1/core/attribute-definitions` takes. */
export class CreateAttributeDefinitionDto extends AttributeDefinitionFieldsDto {
  @ApiProperty({
    default: false,
    description: 'Shows what would become of present values, and writes nothing.',
  })
  @MayBeAbsent()
  @IsBoolean()
  dry_run?: boolean;
}

/** What `PATCH /v1/core/attribute-definitions/{id}` takes: JSON merge. */
export class UpdateAttributeDefinitionDto extends PatchOf(AttributeDefinitionFieldsDto, {
  immutable: ['key'],
}) {}

/** The query of a change and of a restoration. */
export class ConversionQueryDto {
  @ApiProperty({
    enum: ['true', 'false'],
    description: 'Shows what would become of present values, and writes nothing.',
  })
  @MayBeAbsent()
  @IsIn(['true', 'false'])
  dry_run?: 'true' | 'false';

  @onFailure()
  @MayBeAbsent()
  @IsIn(ON_FAILURE)
  on_failure?: OnFailure;
}

const bound = (description: string) => ApiProperty({ type: Number, nullable: true, description });

/** Which values an attribute takes, as it is answered. */
class DeclarationDto {
  @ApiProperty({ enum: DECLARED_TYPES }) type: DeclaredType;
  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    nullable: true,
  })
  enum: (string | number)[] | null;
  @bound('Characters of a text, of a list of each item.') max_length: number | null;
  @bound('Of numbers.') min: number | null;
  @bound('Of numbers.') max: number | null;
}

/** The conversion of values that contacts had before. */
class ConversionDto {
  @ApiProperty({ enum: ['verifying', 'converting', 'ending', 'cancelling'] }) state: string;
  @ApiProperty({ type: DeclarationDto, description: 'What is declared as soon as it has ended.' })
  to: DeclarationDto;
  @ApiProperty({ enum: ON_FAILURE }) on_failure: OnFailure;
  @ApiProperty({
    type: 'integer',
    description: 'Contacts at its beginning, as far as there was time to count them.',
  })
  total: number;
  @ApiProperty({ type: 'integer', description: 'Contacts gone through in this state.' }) processed: number;
  @ApiProperty({ type: 'integer', description: 'Values that are another now.' }) converted: number;
  @ApiProperty({ type: 'integer', description: 'Values taken away.' }) cleared: number;
  @ApiProperty({ format: 'date-time' }) started_at: string;
}

/** The definition of an attribute. */
export class AttributeDefinitionDto extends DeclarationDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ example: 'plan' }) key: string;
  @ApiProperty({ example: 'Plan' }) label: string;
  @ApiProperty() member_visible: boolean;
  @ApiProperty({
    type: ConversionDto,
    nullable: true,
    description: 'Running; until it has ended rules compare as before.',
  })
  conversion: ConversionDto | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ type: String, nullable: true, format: 'date-time' }) deleted_at: string | null;
}

/** A value that cannot be converted. */
export class UnconvertibleValueDto {
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ description: 'As JSON; cut after 200 characters.' }) value: string;
  @ApiProperty({ example: 'attribute_type_mismatch' }) code: string;
}

/** What would become of the values that contacts have. */
export class ConversionOutcomeDto {
  @ApiProperty({ type: 'integer', description: 'Values that stay as they are or can be converted.' })
  convertible: number;
  @ApiProperty({ type: 'integer', description: 'Values that would be lost.' }) unconvertible: number;
  @ApiProperty({ description: 'Whether there was time for all contacts; else these are the counts so far.' })
  complete: boolean;
  @ApiProperty({
    type: [UnconvertibleValueDto],
    description: 'At most 10 of those; none for callers without `core.contacts.read`.',
  })
  samples: UnconvertibleValueDto[];
}

/** `GET /v1/core/attribute-definitions` (core.md §13). */
export const ATTRIBUTE_DEFINITION_LIST: ListDefinition = {
  resource: 'core.attributes',
  filters: {
    key: { type: 'string', column: 'key', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    type: { type: 'enum', column: 'type', values: [...DECLARED_TYPES] },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    key: { type: 'string', column: 'key' },
    created_at: { type: 'time', column: 'created_at' },
  },
  defaultSort: 'key',
  includeDeleted: true,
};

/** A definition with the conversion that runs because of it. */
export interface ShownDefinition {
  readonly definition: AttributeDefinition;
  readonly conversion: ConversionRow | undefined;
}

/** A definition as the API answers it. */
export function toAttributeDefinitionDto({
  definition,
  conversion,
}: ShownDefinition): AttributeDefinitionDto {
  const { id, key, label, memberVisible, createdAt, updatedAt, deletedAt } = definition;
  return {
    id,
    key,
    label,
    ...toDeclarationDto(declarationOf(definition)),
    member_visible: memberVisible,
    conversion: conversion ? toConversionDto(definition, conversion) : null,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    deleted_at: deletedAt?.toISOString() ?? null,
  };
}

function toConversionDto(definition: AttributeDefinition, row: ConversionRow): ConversionDto {
  const { phase: state, on_failure, total, processed, converted, cleared, started_at } = row;
  return {
    state,
    to: toDeclarationDto(definition.next ?? declarationOf(definition)),
    on_failure,
    total,
    processed,
    converted,
    cleared,
    started_at: started_at.toISOString(),
  };
}

function toDeclarationDto({ type, enum: known, max_length, min, max }: Declaration): DeclarationDto {
  return { type, enum: known === null ? null : [...known], max_length, min, max };
}
