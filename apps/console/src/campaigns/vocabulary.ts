import type { Schemas } from '@customer-platform/client';

export type CampaignState = Schemas['CampaignDto']['state'];

export const CAMPAIGN_STATES = [
  'draft',
  'running',
  'paused',
  'completed',
  'canceled',
] as const satisfies readonly CampaignState[];

export const CAMPAIGN_SORTS = [
  'name',
  '-name',
  'created_at',
  '-created_at',
  'updated_at',
  '-updated_at',
] as const;
export type CampaignSort = (typeof CAMPAIGN_SORTS)[number];
