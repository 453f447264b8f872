import type { SendDto, SendStepDto } from './send.dto.js';

type Instants =
  | 'content_removed_at'
  | 'release_at'
  | 'expires_at'
  | 'occurred_at'
  | 'sent_at'
  | 'created_at'
  | 'updated_at';

/** A row of `sends`, as far as it is shown. */
export interface SendRow extends Omit<SendDto, Instants | 'campaign_id'> {
  content_removed_at: Date | null;
  release_at: Date | null;
  expires_at: Date | null;
  sent_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** The columns of {@link SendRow}. */
export const SEND_COLUMNS = `id, channel, state, reason, category, topic, contact_id, address, subject, source, source_id,
  run_id, template_id, template_version, locale, provider, provider_message_id, attempts, metadata, content_removed_at,
  release_at, expires_at, sent_at, correlation_id, created_at, updated_at`;

/** A row of `send_history`, as far as it is shown. */
export interface StepRow extends Omit<SendStepDto, 'occurred_at'> {
  occurred_at: Date;
}

/** A send as it is answered. */
export function toSendDto(row: SendRow): SendDto {
  return {
    id: row.id,
    channel: row.channel,
    state: row.state,
    reason: row.reason,
    category: row.category,
    topic: row.topic,
    contact_id: row.contact_id,
    address: row.address,
    subject: row.subject,
    source: row.source,
    source_id: row.source_id,
    campaign_id: row.source === 'campaign' ? row.source_id : null,
    run_id: row.run_id,
    template_id: row.template_id,
    template_version: row.template_version,
    locale: row.locale,
    provider: row.provider,
    provider_message_id: row.provider_message_id,
    attempts: row.attempts,
    metadata: row.metadata,
    content_removed_at: row.content_removed_at?.toISOString() ?? null,
    release_at: row.release_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    occurred_at: row.created_at.toISOString(),
    sent_at: row.sent_at?.toISOString() ?? null,
    correlation_id: row.correlation_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** A step as it is answered. */
export function toStepDto(row: StepRow): SendStepDto {
  return {
    state: row.state,
    reason: row.reason,
    attempt: row.attempt,
    provider_event_id: row.provider_event_id,
    smtp_code: row.smtp_code,
    occurred_at: row.occurred_at.toISOString(),
  };
}
