import type { Field } from '../fields/field.js';
import type { Outcome } from './outcome.js';

/** A type as activities of it are written by: it stays so until the transaction ends. */
export interface LockedType {
  readonly id: string;
  readonly deletedAt: Date | null;
  readonly outcomes: readonly Outcome[];
  readonly outcomeRequired: boolean;
  readonly fields: readonly Field[];
}
