/** Holds what the pages of the organization keep in the address. */
export interface AreaSearch {
  /** The beginning of a name, or a whole address. */
  q?: string;
  status?: string;
  kind?: string;
  sort?: string;
  /** The row that is open beside. */
  open?: string;
  /** The form for a new one is open. */
  create?: true;
  /** Lists what is deleted, too. */
  deleted?: true;
}
