import { Injectable } from '@nestjs/common';
import { Database, pageOf } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ContactLookup } from '../contacts/contact-lookup.js';
import type { Reason } from './signals.js';
import type { MergeSuggestionDto } from './suggestion.dto.js';

/** Identified, then oldest (core.md §4). An open pair is stale when nothing speaks for it, or one of the two is gone. */
const SUGGESTIONS = `
  SELECT * FROM (
    SELECT s.id, s.first_id, s.second_id, s.score, s.reasons, s.created_at, s.updated_at,
           CASE WHEN (one.external_id IS NULL) <> (other.external_id IS NULL)
                THEN CASE WHEN one.external_id IS NULL THEN s.second_id ELSE s.first_id END
                WHEN (other.created_at, other.id) < (one.created_at, one.id) THEN s.second_id
                ELSE s.first_id END AS survivor_id,
           CASE WHEN s.state = 'open' AND (s.reasons = '[]' OR one.deleted_at IS NOT NULL OR other.deleted_at IS NOT NULL
                  OR one.merged_into IS NOT NULL OR other.merged_into IS NOT NULL OR one.erased_at IS NOT NULL
                  OR other.erased_at IS NOT NULL)
                THEN 'stale' ELSE s.state END AS state
      FROM merge_suggestions s
      JOIN contacts one ON one.organization_id = s.organization_id AND one.id = s.first_id
      JOIN contacts other ON other.organization_id = s.organization_id AND other.id = s.second_id
     WHERE s.organization_id = $1 AND ($2::uuid[] IS NULL OR s.first_id = ANY($2) OR s.second_id = ANY($2))
  ) AS suggestion WHERE true`;

interface SuggestionRow {
  id: string;
  first_id: string;
  second_id: string;
  survivor_id: string;
  score: number;
  reasons: Reason[];
  state: MergeSuggestionDto['state'];
  created_at: Date;
  updated_at: Date;
}

/** What speaks for contacts being one person, as ingestion has found it. Nothing is merged by itself. */
@Injectable()
export class SuggestionsService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
  ) {}

  list(context: RequestContext, query: ListQuery): Promise<Page<MergeSuggestionDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const resolved = await this.lookup.resolveFilters(tx, context.organizationId, query);
      const named = resolved.filters.filter(({ field }) => field === 'contact_id');
      const contactIds = named.length === 0 ? null : common(named.map(({ values }) => values.map(String)));
      const filters = resolved.filters.filter(({ field }) => field !== 'contact_id');
      return pageOf<SuggestionRow, MergeSuggestionDto>(
        tx,
        SUGGESTIONS,
        { ...resolved, filters },
        { parameters: [tx.organizationId, contactIds], map: toSuggestionDto },
      );
    });
  }
}

/** Filters are joined by AND. */
function common(lists: readonly string[][]): string[] {
  return lists.reduce((kept, list) => kept.filter((id) => list.includes(id)));
}

function toSuggestionDto(row: SuggestionRow): MergeSuggestionDto {
  return {
    id: row.id,
    contact_ids: [row.first_id, row.second_id],
    suggested_survivor_id: row.survivor_id,
    score: row.score,
    reasons: row.reasons.map(({ signal, masked }) => ({ signal, masked })),
    state: row.state,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
