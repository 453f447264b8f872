import type { TimelineFilters } from './timeline/use-timeline.ts';

/** What filters the contacts, orders them, and whether the form for a new one is open. */
export interface ContactsSearch {
  q?: string;
  segment?: string;
  deleted?: true;
  sort?: string;
  form?: true;
}

/** What filters a timeline, and which chain of it is open. */
export interface TimelineSearch extends TimelineFilters {
  open?: string;
}
