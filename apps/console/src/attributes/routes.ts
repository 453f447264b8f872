import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';
import { TYPES, type AttributeType } from './vocabulary.ts';

/** What filters the attributes, and which of them stands beside the list; `new` is the form of another one. */
export interface AttributesSearch {
  key?: string | undefined;
  type?: AttributeType | undefined;
  deleted?: true | undefined;
  open?: string | undefined;
}

export const attributesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'attributes',
  validateSearch: (search: Record<string, unknown>): AttributesSearch => ({
    key: textIn(search, 'key'),
    type: oneOf(search, 'type', TYPES),
    deleted: search['deleted'] === true ? true : undefined,
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./attributes-page.tsx'), 'AttributesPage'),
});
