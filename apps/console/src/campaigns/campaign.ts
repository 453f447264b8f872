import type { BodyOf, Schemas } from '@customer-platform/client';
import { STATES, type Channel, type State } from '../messages/vocabulary.ts';
import type { Tone } from '../ui/badge.tsx';
import { objectOf, readJson } from '../ui/exact-json.ts';
import type { CampaignState } from './vocabulary.ts';

export type Campaign = Schemas['CampaignDto'];
export type CampaignRun = NonNullable<Campaign['last_run']>;
export type NewCampaign = BodyOf<'post', '/v1/messaging/campaigns'>;
export type AudienceType = Campaign['audience']['type'];

export const AUDIENCE_TYPES = ['segment', 'list'] as const satisfies readonly AudienceType[];

export const CAMPAIGN_TONES: Record<CampaignState, Tone> = {
  draft: 'neutral',
  running: 'accent',
  paused: 'warn',
  completed: 'good',
  canceled: 'bad',
};

/** Why somebody of the audience gets nothing. */
export const SKIP_REASONS = [
  'contact_deleted',
  'recipient_unreachable',
  'invalid_address',
  'duplicate_address',
  'duplicate_contact',
  'internal_error',
  'campaign_canceled',
  'erased',
] as const;

/** What reads the audience: who lacks it can neither aim at it nor run what is aimed at it. */
export const AUDIENCE_PERMISSIONS = { segment: 'core.segments.read', list: 'crm.lists.read' } as const;

/** A campaign as its form holds it. */
export interface CampaignDraft {
  name: string;
  channel: Channel;
  templateId: string;
  audienceType: AudienceType;
  audienceId: string;
  category: Campaign['category'];
  topic: string;
  /** As JSON is written. */
  data: string;
  repeatable: boolean;
}

export const NEW_CAMPAIGN: CampaignDraft = {
  name: '',
  channel: 'email',
  templateId: '',
  audienceType: 'segment',
  audienceId: '',
  category: 'marketing',
  topic: '',
  data: '{}',
  repeatable: false,
};

export function draftOf(campaign: Campaign): CampaignDraft {
  return {
    name: campaign.name,
    channel: campaign.channel,
    templateId: campaign.template_id,
    audienceType: campaign.audience.type,
    audienceId: campaign.audience.id,
    category: campaign.category,
    topic: campaign.topic ?? '',
    data: JSON.stringify(campaign.data, null, 2),
    repeatable: campaign.repeatable,
  };
}

type Data = Record<string, unknown>;

/** What is written as data, where that is an object. */
export function dataOf({ data }: Pick<CampaignDraft, 'data'>): Data | undefined {
  return objectOf(readJson(data.trim() === '' ? '{}' : data));
}

export function bodyOf(draft: CampaignDraft) {
  return {
    name: draft.name,
    channel: draft.channel,
    template_id: draft.templateId,
    audience: { type: draft.audienceType, id: draft.audienceId },
    category: draft.category,
    topic: draft.topic === '' ? null : draft.topic,
    data: dataOf(draft) ?? {},
    repeatable: draft.repeatable,
  } satisfies NewCampaign;
}

/** What turns `before` into `after` by a JSON merge: members that are gone are said to be null. */
export function mergeTo(before: Data, after: Data): Data {
  const gone = Object.keys(before).filter((key) => !(key in after));
  return Object.fromEntries([
    ...gone.map((key) => [key, null] as const),
    ...Object.entries(after).map(([key, value]) => {
      const old = before[key];
      return [key, isObject(value) && isObject(old) ? mergeTo(old, value) : value] as const;
    }),
  ]);
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a run of it goes on, or rests. */
export function isUnderWay({ state }: Pick<Campaign, 'state'>): boolean {
  return state === 'running' || state === 'paused';
}

/** Whether it may be run: for the first time, or again. */
export function mayRun({ last_run, repeatable, state, deleted_at }: Campaign): boolean {
  return deleted_at === null && (last_run === null || (repeatable && state === 'completed'));
}

/** What the members of an audience have come to, in the order that they come to it. */
export const PROGRESS_PARTS = ['out', 'lost', 'skipped', 'waiting', 'pending'] as const;
export type ProgressPart = (typeof PROGRESS_PARTS)[number];

const OUT: readonly State[] = ['sent', 'unknown', 'delivered', 'opened', 'clicked', 'complained'];
const WAITING: readonly State[] = ['accepted', 'rendering', 'gated', 'dispatching', 'held'];

function partOf(state: State): ProgressPart {
  if (OUT.includes(state)) return 'out';
  return WAITING.includes(state) ? 'waiting' : 'lost';
}

/** A run in parts that are together its audience, each with the states of its sends that some are in. */
export function progressOf({ counts }: Pick<CampaignRun, 'counts'>) {
  const of = (name: string): number => counts[name] ?? 0;
  return PROGRESS_PARTS.map((part) => {
    const states = STATES.filter((state) => partOf(state) === part && of(state) > 0).map((state) => ({
      state,
      count: of(state),
    }));
    const own = part === 'pending' || part === 'skipped' ? of(part) : 0;
    return { part, count: states.reduce((sum, { count }) => sum + count, own), states };
  });
}

/** Tells how a completed run is shown: as one of which all, or some, came to nothing. */
export type RunOutcome = 'reachedNobody' | 'someFailed' | 'fine';

export function outcomeOf({ state, last_run: run }: Pick<Campaign, 'state' | 'last_run'>): RunOutcome {
  if (state !== 'completed' || run === null) return 'fine';
  const out = progressOf(run).find(({ part }) => part === 'out')?.count ?? 0;
  if (out === 0 && (run.counts['audience'] ?? 0) > 0) return 'reachedNobody';
  return (run.counts['failed'] ?? 0) > 0 ? 'someFailed' : 'fine';
}

export const OUTCOME_TONES: Record<RunOutcome, Tone> = {
  reachedNobody: 'bad',
  someFailed: 'warn',
  fine: 'good',
};

/** Of how many it is known what became of them, or that nothing will. */
export function doneOf(run: Pick<CampaignRun, 'counts'>): { done: number; audience: number } {
  const open = progressOf(run)
    .filter(({ part }) => part === 'waiting' || part === 'pending')
    .reduce((sum, { count }) => sum + count, 0);
  const audience = run.counts['audience'] ?? 0;
  return { done: audience - open, audience };
}
