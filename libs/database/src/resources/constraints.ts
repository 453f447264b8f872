import { Problem } from '@customer-platform/problem-json';
import { postgresFailure } from '../errors.js';

/** A unique index on active rows, as its violation is told. */
export interface UniqueConstraint {
  /** The field whose value is taken, as the detail names it. */
  field: string;
  /** Where in the body it stands. */
  pointer: string;
  /** SQL over the table's columns that makes the unique value (`lower(name)`); the field's name unless given. */
  value?: string;
  /** Whether `duplicate_value` carries the `conflicting_id` too; `restore_conflict` always does. */
  tellConflicting?: boolean;
}

/** A foreign key from another table, as the refusal to delete the row it points to is told. */
interface ReferencingConstraint {
  module: string;
  resource: string;
}

/** Constraint name → what to say when it is violated. A constraint that is not listed is an internal error. */
export interface ConstraintMap {
  unique?: Record<string, UniqueConstraint>;
  references?: Record<string, ReferencingConstraint>;
}

/** What a purge was refused for: how many rows of a resource point to the row. */
export interface ReferenceCount {
  module: string;
  resource: string;
  count: number;
}

/** The unique constraint that a failed statement violated, if it is a listed one. */
export function violatedUnique(error: unknown, constraints: ConstraintMap): UniqueConstraint | undefined {
  const failure = postgresFailure(error);
  if (failure?.code !== '23505' || !failure.constraint) return undefined;
  return constraints.unique?.[failure.constraint];
}

/** 409 `duplicate_value`, naming the field. */
export function duplicateValue(unique: UniqueConstraint, conflictingId?: string): Problem {
  return new Problem('duplicate_value', {
    detail: `The value of ${unique.field} is taken.`,
    errors: [{ pointer: unique.pointer, code: 'duplicate_value', detail: `This ${unique.field} is taken.` }],
    members: unique.tellConflicting && conflictingId ? { conflicting_id: conflictingId } : {},
  });
}

/** 409 `resource_referenced` with its counts. */
export function resourceReferenced(references: ReferenceCount[]): Problem {
  return new Problem('resource_referenced', { members: { references } });
}

/**
 * The problem that a violated constraint means, or the error as it was: only 23505 becomes `duplicate_value` and
 * only 23503 `resource_referenced`, each by the name of its constraint.
 */
export function constraintProblem(error: unknown, constraints: ConstraintMap): unknown {
  const unique = violatedUnique(error, constraints);
  if (unique) return duplicateValue(unique);
  const failure = postgresFailure(error);
  if (failure?.code === '23503' && failure.constraint) {
    const referencing = constraints.references?.[failure.constraint];
    if (referencing) return resourceReferenced([{ ...referencing, count: 1 }]);
  }
  return error;
}
