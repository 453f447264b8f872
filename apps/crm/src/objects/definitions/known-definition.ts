import type { ObjectField } from '../../fields/field.js';

/** Whether lists can use the index of a field yet. */
type IndexState = 'building' | 'ready';

/** Where the values of an indexed field stand beside the records. */
export interface FieldIndex {
  /** The field's key. */
  readonly key: string;
  /** Under which the values are kept; given to no other index of the definition, ever. */
  readonly number: number;
  readonly state: IndexState;
  /** Under which active records claim their values, if these are unique. */
  readonly claim: number | null;
}

/** A definition as records are written and listed by it; a snapshot of one revision. */
export interface KnownDefinition {
  readonly organizationId: string;
  readonly id: string;
  readonly slug: string;
  readonly revision: number;
  readonly isDeleted: boolean;
  readonly fields: readonly ObjectField[];
  readonly indexes: readonly FieldIndex[];
}

/** Under which numbers the fields' values stand after a change of the fields, and which numbers are out of use then. */
export interface IndexPlan {
  readonly indexes: readonly FieldIndex[];
  readonly nextNumber: number;
  /** To be filled from the records that there are. */
  readonly built: readonly FieldIndex[];
  readonly dropped: readonly number[];
}

/** @param isEmpty whether there is no record: nothing is to be built then */
export function planIndexes(
  before: readonly FieldIndex[],
  fields: readonly ObjectField[],
  firstNumber: number,
  isEmpty: boolean,
): IndexPlan {
  let nextNumber = firstNumber;
  const built: FieldIndex[] = [];
  const indexes = fields
    .filter(({ indexed }) => indexed)
    .map((field): FieldIndex => {
      const former = before.find(({ key }) => key === field.key);
      const index = former ?? {
        key: field.key,
        number: nextNumber++,
        state: isEmpty ? ('ready' as const) : ('building' as const),
        claim: null,
      };
      if (!former && !isEmpty) built.push(index);
      // Unique becomes only what no record has a value of: there is nothing to be claimed yet.
      return { ...index, claim: field.unique ? (index.claim ?? nextNumber++) : null };
    });
  const used = new Set(numbersOf(indexes));
  return { indexes, nextNumber, built, dropped: numbersOf(before).filter((number) => !used.has(number)) };
}

function numbersOf(indexes: readonly FieldIndex[]): number[] {
  return indexes.flatMap(({ number, claim }) => (claim === null ? [number] : [number, claim]));
}
