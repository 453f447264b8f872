import type { AttributeType } from './vocabulary.ts';

/** What filters the attributes, and which of them stands beside the list; `new` is the form of another one. */
export interface AttributesSearch {
  key?: string | undefined;
  type?: AttributeType | undefined;
  deleted?: true | undefined;
  open?: string | undefined;
}
