import type { TimelineFilters } from './timeline/use-timeline.ts';

/** Filters the contacts, orders them, and says whether the form for a new one is open. */
export interface ContactsSearch {
  q?: string;
  segment?: string;
  deleted?: true;
  sort?: string;
  form?: true;
}

/** Filters a timeline, and says which chain of it is open. */
export interface TimelineSearch extends TimelineFilters {
  open?: string;
}
