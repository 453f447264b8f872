import { DELIVERY_ID } from './delivery-id.js';
import type {
  DeliveryState,
  TriedDeliveryDto,
  WebhookDeliveryDto,
  WebhookTryDto,
} from './webhook-delivery.dto.js';

/** A delivery as it is read to be shown. */
export interface DeliveryRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly state: Exclude<DeliveryState, 'paused'>;
  readonly attempts: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly created_at: Date;
  readonly attempted_at: Date | null;
  readonly due_at: Date | null;
}

/** SQL: what is read of it; nothing of what was said. */
export const DELIVERY_COLUMNS = `${DELIVERY_ID} AS id, endpoint_id, event_id, type, state, attempts, status_code, error,
  created_at, attempted_at, due_at`;

/** As it is answered; `live`: whether its endpoint is told anything. */
export function toDeliveryDto(row: DeliveryRow, live: boolean): WebhookDeliveryDto {
  return {
    id: row.id,
    event_id: row.event_id,
    type: row.type,
    state: row.state === 'pending' && !live ? 'paused' : row.state,
    attempts: row.attempts,
    status_code: row.status_code,
    error: row.error,
    created_at: row.created_at.toISOString(),
    attempted_at: row.attempted_at?.toISOString() ?? null,
    next_attempt_at: live ? (row.due_at?.toISOString() ?? null) : null,
  };
}

/** With all that was tried. */
export function toTriedDto(
  row: DeliveryRow & { readonly tries: WebhookTryDto[] },
  live: boolean,
): TriedDeliveryDto {
  return { ...toDeliveryDto(row, live), tries: row.tries };
}
