import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { CHANNELS } from '../messages/vocabulary.ts';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { CAMPAIGN_SORTS, CAMPAIGN_STATES } from './vocabulary.ts';
import type { CampaignsSearch } from './search-params.ts';

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
