import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';

export const homeRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
});
