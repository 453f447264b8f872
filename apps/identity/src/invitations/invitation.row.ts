import type { InvitationDto, InvitationStatus } from './invitation.dto.js';

/** A row of `invitations`, its state being what it is at this moment. */
export interface InvitationRow {
  id: string;
  email: string;
  role_ids: string[];
  locale: string | null;
  status: InvitationStatus;
  generation: number;
  life_seconds: number;
  expires_at: Date;
  accepted_at: Date | null;
  resent_at: Date[];
  created_at: Date;
  updated_at: Date;
}

/** Time passes without anybody writing it down: a pending one past its end has expired. */
export const INVITATION_COLUMNS = `
  id, email, role_ids, locale, generation, life_seconds, expires_at, accepted_at, resent_at, created_at, updated_at,
  CASE WHEN status = 'pending' AND expires_at <= now() THEN 'expired' ELSE status END AS status`;

/** The same of one that was waited for: its state as it was read is that of the beginning of the transaction. */
export function asOf(row: InvitationRow, now: Date): InvitationRow {
  return row.status === 'pending' && row.expires_at <= now ? { ...row, status: 'expired' } : row;
}

export function toInvitationDto(row: InvitationRow): InvitationDto {
  return {
    id: row.id,
    email: row.email,
    role_ids: row.role_ids,
    locale: row.locale,
    status: row.status,
    expires_at: row.expires_at.toISOString(),
    accepted_at: row.accepted_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
