import type { RuleDto } from './rule.dto.js';
import type { RuleEntity } from './rule.entity.js';

/** A rule as it is answered. */
export function toRuleDto(row: RuleEntity): RuleDto {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    event_type: row.eventType,
    event_name: row.eventName,
    condition: row.condition,
    channel: row.channel,
    template_id: row.templateId,
    recipient: row.recipient,
    category: row.category,
    topic: row.topic,
    delay_seconds: row.delaySeconds,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}
