import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { idIn, sortIn, textIn } from '../ui/search-params.ts';

/** What filters and sorts the list. */
export interface SegmentsSearch {
  name?: string;
  state?: 'building' | 'ready';
  deleted?: true;
  sort?: string;
}

/** Which members are shown, and whose membership is explained. */
interface SegmentSearch {
  status?: 'left';
  contact?: string;
}

export const segmentsRoute = createRoute({
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

export const segmentRoute = createRoute({
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

export const editSegmentRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'segments/$segment/edit',
  component: lazyRouteComponent(() => import('./edit-segment-page.tsx'), 'EditSegmentPage'),
});

export const segmentRoutes = [segmentsRoute, newSegmentRoute, segmentRoute, editSegmentRoute] as const;
