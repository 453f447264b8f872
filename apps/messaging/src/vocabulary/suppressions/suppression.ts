import type { Channel } from '../addresses/channel.js';

/** Why an address gets nothing (messaging.md §6). */
export const SUPPRESSION_REASONS = [
  'manual',
  'hard_bounce',
  'repeated_soft_bounce',
  'complaint',
  'stop_keyword',
  'invalid_token',
] as const;

/** One of the reasons. */
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** What a suppression covers: one address, or all of a mail domain. */
export const SUPPRESSION_SCOPES = ['address', 'domain'] as const;

/** One of the scopes. */
export type SuppressionScope = (typeof SUPPRESSION_SCOPES)[number];

/** A row of `suppressions`. */
export interface SuppressionRow {
  id: string;
  channel: Channel;
  scope: SuppressionScope;
  key: string;
  address: string | null;
  reason: SuppressionReason;
  note: string | null;
  created_by: { type: string; id: string };
  created_at: Date;
  updated_at: Date;
}

/** A suppression as a list has it: one that stands, or one that was lifted. */
export interface ListedSuppression extends Omit<SuppressionRow, 'key'> {
  lifted_by_type: string | null;
  lifted_by_id: string | null;
  lifted_at: Date | null;
}

/** What stops an address, wherever it is written from. */
export interface NewSuppression {
  readonly channel: Channel;
  readonly scope: SuppressionScope;
  /** As it is shown: checked, in its canonical form. */
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly note: string | null;
}
