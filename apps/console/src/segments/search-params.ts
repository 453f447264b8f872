/** Filters and sorts the list. */
export interface SegmentsSearch {
  name?: string;
  state?: 'building' | 'ready';
  deleted?: true;
  sort?: string;
}
