import type { Channel } from '../messages/vocabulary.ts';
import type { CampaignSort, CampaignState } from './vocabulary.ts';

/** Filters and sorts the campaigns, and says which of them stands beside the list; `new` is the form of another one. */
export interface CampaignsSearch {
  state?: CampaignState | undefined;
  channel?: Channel | undefined;
  deleted?: true | undefined;
  sort?: CampaignSort | undefined;
  open?: string | undefined;
}
