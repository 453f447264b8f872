/** Filters the lists, and says which of them stands beside the table; `new` is the form of another one. */
export interface ListsSearch {
  name?: string | undefined;
  deleted?: true | undefined;
  sort?: ListSort | undefined;
  open?: string | undefined;
}

export const LIST_SORTS = [
  'name',
  '-name',
  'created_at',
  '-created_at',
  'updated_at',
  '-updated_at',
] as const;

type ListSort = (typeof LIST_SORTS)[number];
