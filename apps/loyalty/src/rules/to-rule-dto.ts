import type { RuleDto } from './rule.dto.js';
import type { Rule } from './rule.entity.js';

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
