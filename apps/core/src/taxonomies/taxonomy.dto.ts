import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsObject } from 'class-validator';
import { MayBeAbsent, type ListDefinition, type ListQuery, type Page } from '@customer-platform/http';
import { MODES, type Mode, type Taxonomy } from './taxonomy.js';

const OVERRIDES = {
  type: 'object' as const,
  additionalProperties: { type: 'string', enum: [...MODES] },
  example: { product_shared: 'off', order_completed: 'strict' },
};

/** Body of `POST /v1/core/taxonomies/{id}/install`. */
export class InstallTaxonomyDto {
  @ApiProperty({
    enum: MODES,
    default: 'warn',
    description:
      'What becomes of events that break a schema: `off` nothing, `warn` a warning on the stored event, `strict` a ' +
      'refusal with `schema_violation` before the event is taken.',
  })
  @MayBeAbsent()
  @IsIn(MODES)
  mode?: Mode;

  @ApiProperty({
    ...OVERRIDES,
    description: 'Modes of single events, by their names; all others have `mode`.',
  })
  @MayBeAbsent()
  @IsObject()
  overrides?: Record<string, Mode>;

  @ApiProperty({ default: false, description: 'Shows what it would come to, and writes nothing.' })
  @MayBeAbsent()
  @IsBoolean()
  dry_run?: boolean;
}

/** An event as a taxonomy describes it. */
class DescribedEventDto {
  @ApiProperty({ example: 'order_completed' }) name: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'JSON Schema 2020-12 of the properties.',
    example: { type: 'object', required: ['order_id'], properties: { order_id: { type: 'string' } } },
  })
  schema: object;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Properties that hold the schema.',
    example: { order_id: 'O-50017' },
  })
  example: object;
}

/** What of a taxonomy an organization has installed. */
export class InstalledDto {
  @ApiProperty({ example: '1.0.0' }) version: string;
  @ApiProperty({ enum: MODES }) mode: Mode;
  @ApiProperty(OVERRIDES) overrides: Record<string, Mode>;
}

/** A taxonomy, in its newest version. */
export class TaxonomyDto {
  @ApiProperty({ format: 'uuid', description: 'Of this version, for this organization.' }) id: string;
  @ApiProperty({ example: 'ecommerce' }) slug: string;
  @ApiProperty({ example: '1.0.0' }) version: string;
  @ApiProperty({ type: [DescribedEventDto] }) events: DescribedEventDto[];

  @ApiProperty({
    type: InstalledDto,
    nullable: true,
    description: 'What the organization has installed, perhaps of an older version; null: nothing.',
  })
  installed: InstalledDto | null;

  @ApiProperty({ format: 'date-time', description: 'When the version was shipped.' }) created_at: string;
  @ApiProperty({ format: 'date-time', description: 'When it was installed last, else when it was shipped.' })
  updated_at: string;
}

/** What a stored event would break. */
class ViolationDto {
  @ApiProperty({
    example: '/properties/order_id',
    description: 'JSON pointer into the event as it was sent.',
  })
  pointer: string;

  @ApiProperty({ example: 'This property is required.' }) detail: string;
}

/** A stored event that would break its schema. */
class ViolatingEventDto {
  @ApiProperty({ format: 'uuid' }) event_id: string;
  @ApiProperty({ format: 'date-time' }) occurred_at: string;
  @ApiProperty({ type: [ViolationDto], maxItems: 20 }) violations: ViolationDto[];
}

/** The stored events of one name, held against its schema. */
export class JudgedEventDto {
  @ApiProperty({ example: 'order_completed' }) event: string;
  @ApiProperty({ enum: MODES, description: 'The mode that it would have.' }) mode: Mode;
  @ApiProperty({ type: 'integer', description: 'The newest ones, 1,000 at most.' }) judged: number;
  @ApiProperty({ type: 'integer' }) violating: number;
  @ApiProperty({ type: [ViolatingEventDto], maxItems: 5 }) samples: ViolatingEventDto[];
}

/** What the stored events would have come to. */
export class JudgementDto {
  @ApiProperty({ type: 'integer', description: 'Events that were held against their schema.' })
  judged: number;
  @ApiProperty({ type: 'integer', description: 'Those of them that break it.' }) violating: number;
  @ApiProperty({ description: 'Whether there was time for the newest 1,000 of every listed event.' })
  complete: boolean;

  @ApiProperty({ type: [JudgedEventDto], description: 'Of the events that were stored at all.' })
  events: JudgedEventDto[];
}

/** A taxonomy that was installed, or would be. */
export class InstalledTaxonomyDto extends TaxonomyDto {
  @ApiProperty() dry_run: boolean;
  @ApiProperty({ description: 'Whether anything is otherwise than before.' }) changed: boolean;

  @ApiProperty({ type: InstalledDto, nullable: true, description: 'What was installed before.' })
  previous: InstalledDto | null;

  @ApiProperty({
    type: JudgementDto,
    nullable: true,
    description:
      'Of a dry run: what stored events would have come to. Null for callers without `core.events.read`.',
  })
  judgement: JudgementDto | null;
}

/** What `GET /v1/core/taxonomies` takes. */
export const TAXONOMY_LIST: ListDefinition = {
  resource: 'core.taxonomies',
  filters: {},
  sorts: { slug: { type: 'string', column: 'slug' } },
  defaultSort: 'slug',
  tieBreaker: { field: 'slug', type: 'string', column: 'slug' },
};

/** One page of taxonomies, which are given by slug. */
export function pageOfTaxonomies(taxonomies: readonly Taxonomy[], query: ListQuery): Page<Taxonomy> {
  const descending = query.sort[0]?.direction === 'desc';
  const after = query.after?.[0] ?? undefined;
  const ordered = descending ? taxonomies.toReversed() : taxonomies;
  const rest = ordered.filter(
    ({ slug }) => after === undefined || (descending ? slug < after : slug > after),
  );
  const data = rest.slice(0, query.limit);
  const last = rest.length > query.limit ? data.at(-1) : undefined;
  return { data, page: { limit: query.limit, next_cursor: last ? query.cursorFor([last.slug]) : null } };
}
