import type { BodyOf } from '@customer-platform/client';
import type { OrganizationRow } from './settings.ts';

type Change = BodyOf<'patch', '/v1/identity/organizations/{id}'>;

/** What has a period, with the bounds of the API in days. */
export const KINDS = [
  { name: 'events', field: 'events_days', least: 7, most: 3_650 },
  { name: 'deadLetters', field: 'dead_letters_days', least: 1, most: 3_650 },
  { name: 'sends', field: 'sends_days', least: 7, most: 3_650 },
  { name: 'deliveries', field: 'webhook_deliveries_days', least: 7, most: 14 },
] as const;

type RetentionField = (typeof KINDS)[number]['field'];

/** The periods as a form holds them, in days; empty: kept. */
type RetentionDraft = Readonly<Record<RetentionField, string>>;

export function retentionOf({ settings }: OrganizationRow): RetentionDraft {
  const said: Partial<Record<RetentionField, number | null>> = settings.retention ?? {};
  const text = (field: RetentionField): string => said[field]?.toString() ?? '';
  return {
    events_days: text('events_days'),
    dead_letters_days: text('dead_letters_days'),
    sends_days: text('sends_days'),
    webhook_deliveries_days: text('webhook_deliveries_days'),
  };
}

const daysOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/** What of it was changed, as the API takes it; undefined where nothing was. */
export function retentionChange(before: RetentionDraft, draft: RetentionDraft): Change | undefined {
  const changed = KINDS.filter(({ field }) => daysOf(before[field]) !== daysOf(draft[field]));
  if (changed.length === 0) return undefined;
  const retention = Object.fromEntries(changed.map(({ field }) => [field, daysOf(draft[field])]));
  return { settings: { retention } };
}

/** Of what more is removed than before: that is for good. */
export function shortened(before: RetentionDraft, draft: RetentionDraft): (typeof KINDS)[number]['name'][] {
  return KINDS.filter(
    ({ field }) => (daysOf(draft[field]) ?? Infinity) < (daysOf(before[field]) ?? Infinity),
  ).map(({ name }) => name);
}
