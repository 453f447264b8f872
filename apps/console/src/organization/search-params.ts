/** Holds what the pages of the organization keep in the address. */
export interface AreaSearch {
  /** The beginning of a name, or a whole address. */
  q?: string;
  status?: string;
  kind?: string;
  sort?: string;
  /** The row that is open beside; `new` is the form of another one. */
  open?: string;
  /** Lists what is deleted, too. */
  deleted?: true;
}
