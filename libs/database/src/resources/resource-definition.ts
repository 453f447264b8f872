import type { RequestContext } from '@customer-platform/http';
import type { EntityTarget, FindOptionsWhere } from 'typeorm';
import type { Transaction } from '../transaction.js';
import type { ChangeEvent, ChangeVerb } from './change-recorder.js';
import type { RemoteReferences } from '../references/remote-references.js';
import type { ConstraintMap, ReferenceCount } from './constraints.js';

/** The columns that every soft-deletable resource has. */
export interface SoftDeletable {
  organizationId: string;
  id: string;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

/** A change of a resource, with the row as it was and as it is. */
export interface ResourceChange<E> {
  verb: ChangeVerb;
  /** Absent when created. */
  before?: E;
  /** The row after the change; the last state seen when purged. */
  row: E;
  /** Property names whose values changed. */
  changed: string[];
}

/** A table of the same module whose rows keep a row from being purged. */
interface LocalReference {
  table: string;
  /** Column that holds the id. */
  column: string;
  /** As the caller is told: `transactions`. */
  resource: string;
}

/** How an organization reaches rows beyond those that bear its id. */
interface Reach<E> {
  /** SQL over the table's columns; `$1` is the organization. */
  condition: string;
  /** What finds a row by its id alone. */
  key: (id: string) => FindOptionsWhere<E>;
}

/** What a `ResourceStore` must know of its resource. */
export interface ResourceDefinition<E extends SoftDeletable> {
  entity: EntityTarget<E>;
  module: string;
  /** As in the resource's permissions, without the module: `rules`. */
  resource: string;
  constraints?: ConstraintMap;
  /** How many active rows an organization may have; beyond it 409 `limit_reached`. */
  limit?: number;
  /** For rows that may be large: pages of the list end early at 4 MiB. */
  largeRows?: boolean;
  /** `createdAt` is the instant that the id holds: the two sort alike, so that one index serves either order. */
  createdByIds?: boolean;
  /** Foreign keys may come to point to a row while it is changed; only a purge keeps them back. */
  referredMeanwhile?: boolean;
  /** The domain event of a change. */
  event?: (change: ResourceChange<E>) => ChangeEvent | undefined;
  /** Further rows that belong to the change (a version, a count), in its transaction; before the delete on a purge. */
  afterChange?: (tx: Transaction, context: RequestContext, change: ResourceChange<E>) => Promise<void>;
  /**
   * For rows that more than one organization sees, by policies of the table. Whoever writes in a worker's
   * transaction checks the reach beforehand.
   */
  reach?: Reach<E>;
  /** Rows of this module that point to the resource; counted under the row's lock before a purge. */
  referencedBy?: LocalReference[];
  /** Asks the other modules before a purge and holds back new references in them until it is done. */
  remoteReferences?: Pick<RemoteReferences, 'hold'>;
  /** Properties that keep books on others and are told of nowhere: not in audit rows, not as changed. */
  bookkeeping?: readonly (keyof E & string)[];
  /** How audit rows name a property, where not by its column; of one that stands for several fields those that changed. */
  fieldNames?: Partial<Record<keyof E & string, string | ((before: E, after: E) => readonly string[])>>;
  /** Properties that hold an object of which audit rows name the members that changed, too: `settings.retention`. */
  toldByMember?: readonly (keyof E & string)[];
}

/** What a single call adds. */
export interface ChangeOptions<E> {
  /** An open transaction to work in; a new one unless given. */
  tx?: Transaction;
  /** Refuses the change by throwing; sees the locked row (the values to insert, on create). */
  guard?: (tx: Transaction, row: E) => Promise<void> | void;
  /** Fields of the API that are set besides the columns, in rows of their own: told as changed too. */
  furtherFields?: readonly string[];
  /** What else points to the row than tables of the definition say; for a purge, asked after the guard. */
  references?: () => readonly ReferenceCount[];
  /** Why, for the audit row's reader. */
  reason?: string;
}

/** Which rows a read sees. */
export type Visibility = 'live' | 'deleted' | 'any';
