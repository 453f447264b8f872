import type { ConsentModel } from './consent-model.js';
import type { People } from './people.js';

/** An event that was taken, and whose it is. */
export interface TakenEvent {
  readonly id: string;
  readonly person: number;
  readonly key: string;
  isStored: boolean;
}

/** A merge that was carried out; `standing` until it is undone. */
export interface CarriedMerge {
  readonly id: string;
  readonly survivor: number;
  readonly merged: number;
  standing: boolean;
}

/** The acts of a life that are to be seen at its end. */
export interface LifeRecord {
  readonly people: People;
  readonly consents: ConsentModel;
  readonly merges: readonly CarriedMerge[];
  /** Requests to erase. */
  readonly erasures: readonly string[];
  readonly archives: readonly { readonly id: string; readonly person: number }[];
  readonly imports: readonly string[];
  readonly events: readonly TakenEvent[];
  /** Notes of crm, each with whom it is about. */
  readonly notes: readonly { readonly id: string; readonly person: number }[];
  /** People who must have declined marketing by mail at last. */
  readonly declined: ReadonlySet<number>;
  /** The segment of all who have an address. */
  readonly segment: string;
}
