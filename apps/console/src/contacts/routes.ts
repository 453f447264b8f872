import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import type { TimelineFilters } from './timeline/use-timeline.ts';

/** What filters a timeline, and which chain of it is open. */
export interface TimelineSearch extends TimelineFilters {
  open?: string;
}

/** On every part of a contact: which contact one asked for, where that was merged into this one. */
export interface ContactSearch {
  merged?: string;
}

const SOURCES = ['core', 'loyalty', 'messaging'] as const;
const TYPES = ['event', 'consent', 'transaction', 'send'] as const;

export const contactRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts/$contactId',
  validateSearch: ({ merged }: Record<string, unknown>): ContactSearch => ({ ...text('merged', merged) }),
  component: lazyRouteComponent(() => import('./contact-page.tsx'), 'ContactPage'),
});

export const timelineRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: '/',
  validateSearch: ({ source, type, open }: Record<string, unknown>): TimelineSearch => ({
    ...oneOf('source', SOURCES, source),
    ...oneOf('type', TYPES, type),
    ...text('open', open),
  }),
  component: lazyRouteComponent(() => import('./timeline/timeline-page.tsx'), 'TimelinePage'),
});

export const contactRoutes = [contactRoute.addChildren([timelineRoute])];

function text<Name extends string>(name: Name, value: unknown): Partial<Record<Name, string>> {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as Record<Name, string>) : {};
}

function oneOf<Name extends string, Value extends string>(
  name: Name,
  values: readonly Value[],
  value: unknown,
): Partial<Record<Name, Value>> {
  const found = values.find((each) => each === value);
  return found === undefined ? {} : ({ [name]: found } as Record<Name, Value>);
}
