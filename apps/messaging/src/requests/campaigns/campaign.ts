import type { SendState } from '../../vocabulary/sends/send-state.js';

/** What a campaign is aimed at. */
export const AUDIENCE_TYPES = ['segment', 'list'] as const;

/** Whose members it goes to. */
export interface CampaignAudience {
  readonly type: (typeof AUDIENCE_TYPES)[number];
  readonly id: string;
}

/** The states of a campaign (messaging.md §9). */
export const CAMPAIGN_STATES = ['draft', 'running', 'paused', 'completed', 'canceled'] as const;

/** One of the states of a campaign. */
export type CampaignState = (typeof CAMPAIGN_STATES)[number];

/** The states of a run as they are shown: while it rests it is `paused`, gathered or not. */
export const RUN_STATES = ['gathering', 'running', 'paused', 'completed', 'canceled'] as const;

/** One of them. */
export type RunState = (typeof RUN_STATES)[number];

/** Why a member of the audience gets nothing. */
export type SkipReason =
  | 'contact_deleted'
  | 'recipient_unreachable'
  | 'invalid_address'
  | 'duplicate_address'
  | 'duplicate_contact'
  | 'internal_error'
  | 'campaign_canceled'
  | 'erased';

/** How many of an audience stand where; `audience` is the sum of the others. */
export type RunCounts = Readonly<Record<'audience' | 'pending' | 'skipped' | SendState, number>>;

/** A row of `campaign_runs`, as far as it is shown. */
export interface RunRow {
  readonly id: string;
  readonly state: Exclude<RunState, 'paused'>;
  readonly paused: boolean;
  readonly reason: string | null;
  readonly template_version: number;
  readonly started_at: Date;
  readonly finished_at: Date | null;
}

/** Whether a run of it goes on. */
export function isUnderWay({ state }: { readonly state: CampaignState }): boolean {
  return state === 'running' || state === 'paused';
}

/** What references and holds call the resource that an audience is. */
export const AUDIENCE_RESOURCES = { segment: 'core.segments', list: 'crm.lists' } as const;
