import type { AttributeType } from './vocabulary.ts';

/** Filters the attributes, and says which of them stands beside the list; `new` is the form of another one. */
export interface AttributesSearch {
  key?: string | undefined;
  type?: AttributeType | undefined;
  deleted?: true | undefined;
  open?: string | undefined;
}
