/** Rows of this module that are about a contact: what a person who asks for their data is given of it. */
export interface SubjectTable {
  /** As an archive names it: `notes`. */
  readonly resource: string;
  /** Whether the person gave it, so that it is theirs to take elsewhere, too. */
  readonly portable?: boolean;
  /** SQL after `FROM`; the table whose `organization_id` is asked for is called `own`. */
  readonly from: string;
  /** What is given of a row, each with a name of its own; the same names for every row. */
  readonly columns: readonly string[];
  /** SQL by which a row belongs to the contact `$2`. */
  readonly where: string;
  /** What orders the rows of a contact, each once: an expression and its type. */
  readonly order: readonly (readonly [expression: string, type: string])[];
}

/** The statements that read a table: for the organization `$1` and the contact `$2`, at most `$3` rows, after `$4`. */
export interface SubjectStatements {
  readonly first: string;
  readonly after: string;
}

/** What the statements of a {@link SubjectTable} answer: the row as JSON text, and where it stands. */
export interface SubjectRow {
  readonly row: string;
  readonly place: string[];
}

/** A name that no table has for a column. */
const ROW = 'row_of_subject';

/** As text, rows come exactly as they are stored: no figure passes through one of JavaScript's. */
export function subjectStatements({ from, columns, where, order }: SubjectTable): SubjectStatements {
  const keys = order.map(([expression]) => expression);
  const reached = order.map(([, type], at) => `($4::text[])[${String(at + 1)}]::${type}`);
  const read = (further: string): string => `
    SELECT row_to_json(${ROW}.*)::text AS row, ARRAY[${keys.map((key) => `(${key})::text`).join(', ')}] AS place
      FROM ${from}, LATERAL (SELECT ${columns.join(', ')}) AS ${ROW}
     WHERE own.organization_id = $1 AND (${where}) ${further}
     ORDER BY ${keys.join(', ')} LIMIT $3`;
  return { first: read(''), after: read(`AND (${keys.join(', ')}) > (${reached.join(', ')})`) };
}
