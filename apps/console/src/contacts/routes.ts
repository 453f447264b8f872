import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { idIn, textIn } from '../ui/search-params.ts';
import type { ContactsSearch, TimelineSearch } from './search-params.ts';

/** On every part of a contact: which contact one asked for, where that was merged into this one. */
interface ContactSearch {
  merged?: string;
}

/** Which activities are shown, and whether the form for a new one is open. */
interface ActivitiesSearch {
  status?: (typeof ACTIVITY_STATUSES)[number];
  form?: true;
}

/** The two contacts of a merge. */
interface MergeSearch {
  survivor?: string;
  merged?: string;
}

type Search = Record<string, unknown>;

const SOURCES = ['core', 'loyalty', 'messaging'] as const;

const TYPES = ['event', 'consent', 'transaction', 'send'] as const;

const ACTIVITY_STATUSES = ['open', 'completed', 'cancelled'] as const;

const SUGGESTION_STATES = ['open', 'merged', 'dismissed', 'stale', 'all'] as const;

const SORTS = ['created_at', 'updated_at', 'last_seen_at', 'last_name'].flatMap((field) => [
  field,
  `-${field}`,
]);

const contactsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts',
  validateSearch: ({ q, segment, deleted, sort, form }: Search): ContactsSearch => ({
    ...text('q', q),
    ...id('segment', segment),
    ...yes('deleted', deleted),
    ...oneOf('sort', SORTS, sort),
    ...yes('form', form),
  }),
  component: lazyRouteComponent(() => import('./list/contacts-page.tsx'), 'ContactsPage'),
});

const suggestionsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts/merge-suggestions',
  validateSearch: ({ state }: Search) => oneOf('state', SUGGESTION_STATES, state),
  component: lazyRouteComponent(() => import('./merge/suggestions-page.tsx'), 'SuggestionsPage'),
});

const mergeRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts/merge',
  validateSearch: ({ survivor, merged }: Search): MergeSearch => ({
    ...id('survivor', survivor),
    ...id('merged', merged),
  }),
  component: lazyRouteComponent(() => import('./merge/merge-page.tsx'), 'MergePage'),
});

const contactRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts/$contactId',
  validateSearch: ({ merged }: Search): ContactSearch => text('merged', merged),
  component: lazyRouteComponent(() => import('./contact-page.tsx'), 'ContactPage'),
});

const timelineRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: '/',
  validateSearch: ({ source, type, open }: Search): TimelineSearch => ({
    ...oneOf('source', SOURCES, source),
    ...oneOf('type', TYPES, type),
    ...text('open', open),
  }),
  component: lazyRouteComponent(() => import('./timeline/timeline-page.tsx'), 'TimelinePage'),
});

const profileRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: 'profile',
  component: lazyRouteComponent(() => import('./profile/profile-page.tsx'), 'ProfilePage'),
});

const consentsRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: 'consents',
  validateSearch: ({ form }: Search) => yes('form', form),
  component: lazyRouteComponent(() => import('./consents/consents-page.tsx'), 'ConsentsPage'),
});

const preferencesRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: 'preferences',
  component: lazyRouteComponent(() => import('./preferences/preferences-page.tsx'), 'PreferencesPage'),
});

const notesRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: 'notes',
  component: lazyRouteComponent(() => import('./notes/notes-page.tsx'), 'NotesPage'),
});

const activitiesRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: 'activities',
  validateSearch: ({ status, form }: Search): ActivitiesSearch => ({
    ...oneOf('status', ACTIVITY_STATUSES, status),
    ...yes('form', form),
  }),
  component: lazyRouteComponent(() => import('./activities/activities-page.tsx'), 'ActivitiesPage'),
});

const objectsRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: 'objects',
  component: lazyRouteComponent(() => import('./objects/contact-objects-page.tsx'), 'ContactObjectsPage'),
});

const pointsRoute = createRoute({
  getParentRoute: () => contactRoute,
  path: 'points',
  component: lazyRouteComponent(() => import('./points/points-page.tsx'), 'PointsPage'),
});

const parts = [
  timelineRoute,
  profileRoute,
  consentsRoute,
  preferencesRoute,
  notesRoute,
  activitiesRoute,
  objectsRoute,
  pointsRoute,
] as const;

export const contactRoutes = [
  contactsRoute,
  suggestionsRoute,
  mergeRoute,
  contactRoute.addChildren(parts),
] as const;

function text<Name extends string>(name: Name, value: unknown): Partial<Record<Name, string>> {
  const read = textIn({ [name]: value }, name);
  return read === undefined ? {} : ({ [name]: read } as Record<Name, string>);
}

function id<Name extends string>(name: Name, value: unknown): Partial<Record<Name, string>> {
  const read = idIn({ [name]: value }, name);
  return read === undefined ? {} : ({ [name]: read } as Record<Name, string>);
}

function yes<Name extends string>(name: Name, value: unknown): Partial<Record<Name, true>> {
  return value === true ? ({ [name]: true } as Record<Name, true>) : {};
}

function oneOf<Name extends string, Value extends string>(
  name: Name,
  values: readonly Value[],
  value: unknown,
): Partial<Record<Name, Value>> {
  const found = values.find((each) => each === value);
  return found === undefined ? {} : ({ [name]: found } as Record<Name, Value>);
}
