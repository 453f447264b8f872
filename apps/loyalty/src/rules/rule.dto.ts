import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsInstant, MayBeAbsent, MayBeNull, PatchOf, type ListDefinition } from '@customer-platform/http';
import { IsArray, IsBoolean, IsInt, IsObject, IsString, Length, Max, Min } from 'class-validator';
import { CONDITION_OPS, PERIODS, ROUNDINGS } from './rule.js';
import type { Rule } from './rule.entity.js';

type Schema = NonNullable<Extract<ApiPropertyOptions, { items?: unknown }>['items']>;

const CONDITION_SCHEMA: Schema = {
  type: 'object',
  required: ['property', 'op'],
  additionalProperties: false,
  properties: {
    property: { type: 'string', description: 'Dotted path in `properties`, at most 5 deep.' },
    op: { type: 'string', enum: [...CONDITION_OPS] },
    value: {
      description: 'What the property is compared with; for `in` a list, for `exists` true or false.',
    },
  },
};

const FORMULA_SCHEMA: { oneOf: Schema[] } = {
  oneOf: [
    {
      type: 'object',
      required: ['type', 'points'],
      additionalProperties: false,
      properties: {
        type: { type: 'string', enum: ['fixed'] },
        points: { type: 'integer', minimum: 1, maximum: 1e9 },
      },
    },
    {
      type: 'object',
      required: ['type', 'currency', 'per', 'points'],
      additionalProperties: false,
      properties: {
        type: { type: 'string', enum: ['per_amount'] },
        amount_property: { type: 'string', default: 'amount' },
        currency_property: { type: 'string', default: 'currency' },
        currency: { type: 'string', pattern: '^[A-Z]{3}$' },
        per: { type: 'integer', minimum: 1, description: 'Minor units of the currency.' },
        points: { type: 'integer', minimum: 1, maximum: 1e6 },
        rounding: { type: 'string', enum: [...ROUNDINGS], default: 'floor' },
      },
    },
  ],
};

const CAP_SCHEMA = {
  type: 'object' as const,
  required: ['points', 'period'],
  additionalProperties: false,
  properties: {
    points: { type: 'integer', minimum: 1, maximum: 1e9 },
    period: { type: 'string', enum: [...PERIODS] },
    timezone: { type: 'string', description: 'IANA name; default the organization’s.' },
  },
};

/** What `POST /v1/loyalty/rules` takes. */
export class CreateRuleDto {
  @ApiProperty({ example: '1 point per CLP 1,000' })
  @IsString()
  @Length(1, 100)
  name: string;

  @ApiProperty({ example: 'purchase_completed', description: 'Exact event name.' })
  @IsString()
  @Length(1, 200)
  event: string;

  @ApiProperty({ type: 'array', maxItems: 20, items: CONDITION_SCHEMA, default: [] })
  @MayBeAbsent()
  @IsArray()
  conditions?: unknown[];

  @ApiProperty({ ...FORMULA_SCHEMA, example: { type: 'per_amount', currency: 'CLP', per: 1000, points: 1 } })
  @IsObject()
  formula: object;

  @ApiProperty({ default: null })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  @Min(1)
  @Max(1_000_000_000)
  max_per_event?: number | null;

  @ApiProperty({ ...CAP_SCHEMA, default: null } as ApiPropertyOptions)
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  max_per_contact?: object | null;

  @ApiProperty({ description: 'Default: now.' })
  @MayBeAbsent()
  @IsInstant()
  valid_from?: string;

  @ApiProperty({ default: null })
  @MayBeAbsent()
  @MayBeNull()
  @IsInstant()
  valid_to?: string | null;

  @ApiProperty({ default: null })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  @Min(1)
  @Max(3_650)
  expires_after_days?: number | null;

  @ApiProperty({ default: true })
  @MayBeAbsent()
  @IsBoolean()
  enabled?: boolean;
}

/** What `PATCH /v1/loyalty/rules/{id}` takes: JSON merge. */
export class UpdateRuleDto extends PatchOf(CreateRuleDto) {}

/** A rule as it is answered. */
export class RuleDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ example: '1 point per CLP 1,000' }) name: string;
  @ApiProperty({ example: 'purchase_completed' }) event: string;
  @ApiProperty({ type: 'array', items: CONDITION_SCHEMA }) conditions: object[];
  @ApiProperty(FORMULA_SCHEMA) formula: object;
  @ApiProperty({ nullable: true, type: 'integer' }) max_per_event: number | null;
  @ApiProperty({ ...CAP_SCHEMA, nullable: true } as ApiPropertyOptions) max_per_contact: object | null;
  @ApiProperty({ format: 'date-time' }) valid_from: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) valid_to: string | null;
  @ApiProperty({ nullable: true, type: 'integer' }) expires_after_days: number | null;
  @ApiProperty() enabled: boolean;
  @ApiProperty({ type: 'integer', minimum: 1 }) version: number;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** The query of `GET /v1/loyalty/rules/{id}`. */
export class RuleVersionQuery {
  @ApiProperty({ pattern: '^[1-9][0-9]{0,8}$', description: 'An older version of the rule.' })
  @MayBeAbsent()
  @IsString()
  version?: string;
}

/** `GET /v1/loyalty/rules` (loyalty.md §1). */
export const RULES_LIST: ListDefinition = {
  resource: 'loyalty.rules',
  filters: {
    event: { type: 'string', column: 'event' },
    enabled: { type: 'boolean', column: 'enabled' },
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    name: { type: 'string', column: 'name', byLanguage: true },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** A rule as the API answers it. */
export function toRuleDto(rule: Rule): RuleDto {
  return {
    id: rule.id,
    name: rule.name,
    event: rule.event,
    conditions: rule.conditions,
    formula: rule.formula,
    max_per_event: rule.maxPerEvent,
    max_per_contact: rule.maxPerContact,
    valid_from: rule.validFrom.toISOString(),
    valid_to: rule.validTo?.toISOString() ?? null,
    expires_after_days: rule.expiresAfterDays,
    enabled: rule.enabled,
    version: rule.version,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
    deleted_at: rule.deletedAt?.toISOString() ?? null,
  };
}
