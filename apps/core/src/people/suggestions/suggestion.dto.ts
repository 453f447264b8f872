import { ApiProperty } from '@nestjs/swagger';
import type { ListDefinition } from '@customer-platform/http';
import { SIGNALS, type Signal } from './signals.js';

/** The states of a suggestion. */
const SUGGESTION_STATES = ['open', 'merged', 'dismissed', 'stale'] as const;

/** A value that both contacts claim. */
class SuggestionReasonDto {
  @ApiProperty({ enum: SIGNALS }) signal: Signal;
  @ApiProperty({ example: 'a***@example.com' }) masked: string;
}

/** Two contacts that may be one person. */
export class MergeSuggestionDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ type: [String], format: 'uuid', minItems: 2, maxItems: 2 }) contact_ids: [string, string];
  @ApiProperty({ format: 'uuid', description: 'The one with an external id, else the older.' })
  suggested_survivor_id: string;
  @ApiProperty({ minimum: 0, maximum: 1, description: 'How much speaks for it.' }) score: number;
  @ApiProperty({ type: [SuggestionReasonDto] }) reasons: SuggestionReasonDto[];
  @ApiProperty({
    enum: SUGGESTION_STATES,
    description:
      '`dismissed` once a merge of the two was undone; `stale` when nothing speaks for it any more.',
  })
  state: (typeof SUGGESTION_STATES)[number];
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
}

/** `GET /v1/core/merge-suggestions` (core.md §13). */
export const SUGGESTION_LIST: ListDefinition = {
  resource: 'core.merge_suggestions',
  filters: {
    state: { type: 'enum', column: 'state', values: SUGGESTION_STATES },
    contact_id: {
      type: 'uuid',
      column: 'first_id',
      ops: ['eq', 'in'],
      description: 'Either of the two.',
    },
    score: { type: 'number', column: 'score' },
  },
  sorts: {
    score: { type: 'number', column: 'score' },
    created_at: { type: 'time', column: 'created_at' },
  },
  defaultSort: '-score',
};
