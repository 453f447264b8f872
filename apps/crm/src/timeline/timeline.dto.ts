import { ApiProperty } from '@nestjs/swagger';
import type { ListDefinition } from '@customer-platform/http';
import { FRAGMENTS } from './fragments.js';
import type { PlacedItem } from './source-page.js';
import { RANGES } from '../range-ops.js';

/** One thing that happened to a contact. */
export class TimelineItemDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ enum: ['core', 'loyalty', 'messaging'], description: 'The module that holds it.' })
  source: string;
  @ApiProperty({ enum: ['event', 'consent', 'transaction', 'send'] }) type: string;
  @ApiProperty({ format: 'date-time' }) occurred_at: string;
  @ApiProperty({
    format: 'uuid',
    nullable: true,
    type: 'string',
    description: 'Chains what one cause led to.',
  })
  correlation_id: string | null;
  @ApiProperty({ maxLength: 200, description: 'For people; untranslated.', example: 'purchase_completed' })
  title: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The item as its module answers it.',
  })
  data: Readonly<Record<string, unknown>>;
}

/** Where a page of the timeline ends. */
class TimelinePageDto {
  @ApiProperty({ type: 'integer' }) limit: number;
  @ApiProperty({ nullable: true, type: 'string', description: 'Null on the last page.' }) next_cursor:
    string | null;
}

/** What a source has removed, its time being over. */
export class TimelineGapDto {
  @ApiProperty({ enum: ['core', 'loyalty', 'messaging'] }) source: string;
  @ApiProperty({ enum: ['event', 'consent', 'transaction', 'send'] }) type: string;
  @ApiProperty({ enum: ['retention'] }) reason: 'retention';
  @ApiProperty({
    format: 'date-time',
    description: 'Of what happened at it or before it some is gone; nothing after it.',
  })
  until: string;
}

/** A page of a contact's timeline: time descending, then source ascending, then id descending. */
export class TimelineDto {
  @ApiProperty({ type: [TimelineItemDto] }) data: TimelineItemDto[];
  @ApiProperty({ type: TimelinePageDto }) page: TimelinePageDto;
  @ApiProperty({
    enum: ['core', 'loyalty', 'messaging'],
    isArray: true,
    description:
      'Modules that did not answer. The same request completes the page later, a later page brings what was missed.',
  })
  unreachable: string[];

  @ApiProperty({
    type: [TimelineGapDto],
    description: 'What is missing for good, on the page on which the items of a source and type end.',
  })
  gaps: TimelineGapDto[];
}

/**
 * What the timeline takes (crm.md §4). It has no columns: its filters are passed on to the sources. Its order is one,
 * so `sort` may only say it.
 */
export const TIMELINE_LIST: ListDefinition = {
  resource: 'crm.timeline',
  filters: {
    source: {
      type: 'enum',
      column: '',
      values: [...new Set(FRAGMENTS.map(({ source }) => source))],
      ops: ['eq', 'in'],
    },
    type: { type: 'enum', column: '', values: FRAGMENTS.map(({ type }) => type), ops: ['eq', 'in'] },
    occurred_at: { type: 'time', column: '', ops: RANGES },
    correlation_id: { type: 'uuid', column: '', ops: ['eq'] },
  },
  sorts: { occurred_at: { type: 'time', column: '', only: 'desc' } },
  defaultSort: '-occurred_at',
};

const TITLE_LENGTH = 200;

/**
 * A {@link TimelineDto} as JSON. An item of a source stands in it as the source sent it: what is passed on need be neither
 * parsed nor written anew.
 */
export function timelineText(items: readonly PlacedItem[], rest: Omit<TimelineDto, 'data'>): string {
  const { page, unreachable, gaps } = rest;
  const behind = JSON.stringify({ page, unreachable, gaps });
  return `{"data":[${items.map(itemText).join(',')}],${behind.slice(1)}`;
}

function itemText({ fragment, id, occurredAt, correlationId, head, text }: PlacedItem): string {
  const shown: Omit<TimelineItemDto, 'data'> = {
    id,
    source: fragment.source,
    type: fragment.type,
    occurred_at: occurredAt,
    correlation_id: correlationId,
    title: shortened(fragment.title(head).trim()),
  };
  return `${JSON.stringify(shown).slice(0, -1)},"data":${text()}}`;
}

/** Cut between characters, never within one. */
function shortened(title: string): string {
  return title.length <= TITLE_LENGTH ? title : [...title].slice(0, TITLE_LENGTH - 1).join('') + '…';
}
