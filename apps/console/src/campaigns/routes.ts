import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { CHANNELS, type Channel } from '../messages/vocabulary.ts';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';
import { CAMPAIGN_SORTS, CAMPAIGN_STATES, type CampaignSort, type CampaignState } from './vocabulary.ts';

/** What filters and sorts the campaigns, and which of them stands beside the list; `new` is the form of another one. */
export interface CampaignsSearch {
  state?: CampaignState | undefined;
  channel?: Channel | undefined;
  deleted?: true | undefined;
  sort?: CampaignSort | undefined;
  open?: string | undefined;
}

export const campaignsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/campaigns',
  validateSearch: (search: Record<string, unknown>): CampaignsSearch => ({
    state: oneOf(search, 'state', CAMPAIGN_STATES),
    channel: oneOf(search, 'channel', CHANNELS),
    deleted: search['deleted'] === true ? true : undefined,
    sort: oneOf(search, 'sort', CAMPAIGN_SORTS),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./campaigns-page.tsx'), 'CampaignsPage'),
});
