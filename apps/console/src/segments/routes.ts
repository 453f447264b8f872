import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { idIn, sortIn, textIn } from '../ui/search-params.ts';
import type { SegmentsSearch } from './search-params.ts';

/** Which members are shown, and whose membership is explained. */
interface SegmentSearch {
  status?: 'left';
  contact?: string;
}

const segmentsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'segments',
  validateSearch: (search): SegmentsSearch => {
    const [name, sort] = [textIn(search, 'name'), sortIn(search, 'sort', ['name', 'created_at'])];
    return {
      ...(name === undefined ? {} : { name }),
      ...(search['state'] === 'building' || search['state'] === 'ready' ? { state: search['state'] } : {}),
      ...(search['deleted'] === true ? { deleted: true } : {}),
      ...(sort === undefined ? {} : { sort }),
    };
  },
  component: lazyRouteComponent(() => import('./segments-page.tsx'), 'SegmentsPage'),
});

const newSegmentRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'segments/new',
  component: lazyRouteComponent(() => import('./new-segment-page.tsx'), 'NewSegmentPage'),
});

const segmentRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'segments/$segment',
  validateSearch: (search): SegmentSearch => {
    const contact = idIn(search, 'contact');
    return {
      ...(search['status'] === 'left' ? { status: 'left' } : {}),
      ...(contact === undefined ? {} : { contact }),
    };
  },
  component: lazyRouteComponent(() => import('./segment-page.tsx'), 'SegmentPage'),
});

const editSegmentRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'segments/$segment/edit',
  component: lazyRouteComponent(() => import('./edit-segment-page.tsx'), 'EditSegmentPage'),
});

export const segmentRoutes = [segmentsRoute, newSegmentRoute, segmentRoute, editSegmentRoute] as const;
