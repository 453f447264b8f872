import type { SegmentDto } from './segment.dto.js';
import type { Segment } from './segment.entity.js';

/** A segment as the API answers it. */
export function toSegmentDto(segment: Segment): SegmentDto {
  return {
    id: segment.id,
    name: segment.name,
    description: segment.description,
    rule: segment.rule,
    rule_version: segment.ruleVersion,
    state: segment.state,
    member_count: segment.memberCount,
    evaluated_at: segment.evaluatedAt?.toISOString() ?? null,
    created_at: segment.createdAt.toISOString(),
    updated_at: segment.updatedAt.toISOString(),
    deleted_at: segment.deletedAt?.toISOString() ?? null,
  };
}
