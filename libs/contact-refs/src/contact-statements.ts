/** No chain of merges is longer: core lets a contact take at most 100 others, theirs included (core.md §4). */
const LONGEST_CHAIN = 100;

/** What a module keeps of a contact in the row of its reference. All of it is SQL, and trusted. */
export interface ProfileColumns {
  /** A column that every row has: what it is in a new row, and what it becomes when only the reference changes. */
  readonly marked: { readonly column: string; readonly inserted: string; readonly updated: string };
  /** The assignments that take the profile away. */
  readonly erased: string;
}

/** How the statements are to be built. */
interface StatementOptions {
  readonly table: string;
  /** Erased contacts are remembered by hashes in `erased_contacts`, not by rows. */
  readonly hashed: boolean;
  readonly profile?: ProfileColumns;
}

/**
 * The common table expression `chain` of a recursive statement: every step from the contacts `$1::uuid[], $2::uuid[]`
 * (organizations, ids) to where their merges end, `(organization_id, asked, id, state, merged_into, step)`. An unknown
 * contact is a step without a state. Each row is sought by its key, whatever the planner believes of the table.
 */
export function chainOf(table: string, hashed = false): string {
  const row = (contact: string, id: string): string => `
      LEFT JOIN LATERAL (
        SELECT state, merged_into FROM ${table} AS known
         WHERE known.organization_id = ${contact}.organization_id AND known.id = ${contact}.${id} OFFSET 0) AS ref ON true`;
  const state = hashed ? `CASE WHEN erased.so THEN 'erased' ELSE ref.state END` : 'ref.state';
  return `chain AS (
    SELECT asked.organization_id, asked.id AS asked, asked.id, ${state} AS state, ref.merged_into, 0 AS step
      FROM unnest($1::uuid[], $2::uuid[]${hashed ? ', $3::bytea[]' : ''})
             AS asked (organization_id, id${hashed ? ', hash' : ''})${row('asked', 'id')}${hashed ? ERASED_BY_HASH : ''}
    UNION ALL
    SELECT chain.organization_id, chain.asked, chain.merged_into, ref.state, ref.merged_into, chain.step + 1
      FROM chain${row('chain', 'merged_into')}
     WHERE chain.state = 'merged' AND chain.merged_into IS NOT NULL AND chain.step < ${String(LONGEST_CHAIN)})`;
}

const ERASED_BY_HASH = `
      LEFT JOIN LATERAL (
        SELECT true AS so FROM erased_contacts AS forgotten
         WHERE forgotten.organization_id = asked.organization_id AND forgotten.contact_hash = asked.hash OFFSET 0
      ) AS erased ON true`;

/** The contacts whose merges end at one of those in `first`, and these themselves. */
const familyOf = (table: string, first: string, organization: string): string => `family AS (
    ${first}
    UNION
    SELECT known.id FROM family JOIN ${table} AS known
        ON known.organization_id = ${organization} AND known.merged_into = family.id)
  SELECT id FROM family`;

/**
 * An older version never overwrites a newer, for events can come again, and nothing overwrites an erasure. Of one
 * version the survivor may be told last: a snapshot of a merged contact does not name it.
 */
const write = ({ table, hashed, profile }: StatementOptions): string => {
  const { column, inserted, updated } = profile?.marked ?? { column: '', inserted: '', updated: '' };
  return `
  INSERT INTO ${table} AS known (organization_id, id, state, merged_into, version${column && `, ${column}`})
  SELECT organization_id, id, state, merged_into, version${inserted && `, ${inserted}`}
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::bigint[]${hashed ? ', $6::bytea[]' : ''})
           AS given (organization_id, id, state, merged_into, version${hashed ? ', hash' : ''})
   ${hashed ? NOT_FORGOTTEN : ''}
   ORDER BY organization_id, id
  ON CONFLICT (organization_id, id) DO UPDATE
     SET state = excluded.state, merged_into = excluded.merged_into,
         version = excluded.version${column && `, ${column} = ${updated}`}
   WHERE known.state <> 'erased' AND (known.version < excluded.version
      OR known.version = excluded.version AND known.merged_into IS NULL AND excluded.merged_into IS NOT NULL)
  ${hashed ? 'RETURNING organization_id, id, xmax = 0 AS added' : ''}`;
};

const FORGOTTEN = `EXISTS (
     SELECT FROM erased_contacts AS erased
      WHERE erased.organization_id = given.organization_id AND erased.contact_hash = given.hash)`;
const NOT_FORGOTTEN = `WHERE NOT ${FORGOTTEN}`;

/**
 * Whatever its version, and of a contact nobody has told of, too: from an erasure there is no way back. Where erased
 * contacts have no rows, it is for the wait for whoever adds one, and the row goes afterwards.
 */
const erase = ({ table, hashed, profile }: StatementOptions): string => {
  const state = hashed ? 'deleted' : 'erased';
  return `
  INSERT INTO ${table} AS known (organization_id, id, state, version)
  SELECT $1, id, '${state}', 0 FROM unnest($2::uuid[]) AS given (id) ORDER BY id
  ON CONFLICT (organization_id, id) DO UPDATE
     SET state = '${state}', merged_into = NULL${profile ? `, ${profile.erased}` : ''}`;
};

/**
 * Whoever is known to be merged into an erased contact, and was not erased with it, has parted from it. One version on,
 * as the undo has it: a merge that is told again undoes nothing.
 */
const part = ({ table, profile }: StatementOptions): string => `
  UPDATE ${table} AS known
     SET state = 'active', merged_into = NULL,
         version = known.version + 1${profile ? `, ${profile.marked.column} = ${profile.marked.updated}` : ''}
   WHERE organization_id = $1 AND merged_into = ANY($2::uuid[]) AND id <> ALL($2::uuid[])
  RETURNING id, version`;

const erased = ({ table, hashed }: StatementOptions): string => `
  SELECT given.organization_id, given.id
    FROM unnest($1::uuid[], $2::uuid[]${hashed ? ', $3::bytea[]' : ''})
           AS given (organization_id, id${hashed ? ', hash' : ''})
   CROSS JOIN LATERAL (
     SELECT FROM ${hashed ? 'erased_contacts' : table} AS gone
      WHERE gone.organization_id = given.organization_id
        AND ${hashed ? 'gone.contact_hash = given.hash' : `gone.id = given.id AND gone.state = 'erased'`}
     OFFSET 0) AS found`;

const removeErased = ({ table, hashed }: StatementOptions): string => `
  DELETE FROM ${table} AS known
   USING unnest($1::uuid[], $2::uuid[]${hashed ? ', $3::bytea[]' : ''})
           AS given (organization_id, id${hashed ? ', hash' : ''})
   WHERE known.organization_id = given.organization_id AND known.id = given.id
     AND ${hashed ? FORGOTTEN : `known.state = 'erased'`}`;

/** Not FOR SHARE: sharers that keep coming would hold up a merge or an erasure for as long as they come. */
const keepActive = ({ table }: StatementOptions): string => `
  SELECT id FROM ${table} WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND state = 'active'
   ORDER BY id FOR NO KEY UPDATE`;

/** As `keepActive`, in any state. */
const keep = ({ table }: StatementOptions): string => `
  SELECT id FROM ${table} WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`;

/** The statements of one module's table of references. */
export function contactStatements(options: StatementOptions) {
  const { table, hashed } = options;
  return {
    write: write(options),
    erase: erase(options),
    part: part(options),
    erased: erased(options),
    keep: keep(options),
    keepActive: keepActive(options),
    ends: `
  WITH RECURSIVE ${chainOf(table, hashed)}
  SELECT DISTINCT ON (asked) asked, id, state FROM chain ORDER BY asked, step DESC`,
    // Up to the end of its chain, and from there down to everyone merged into it; `$3` is the organization once more.
    family: `
  WITH RECURSIVE ${chainOf(table)},
  ${familyOf(table, '(SELECT id FROM chain ORDER BY step DESC LIMIT 1)', '$3')}`,
    mergedInto: `
  WITH RECURSIVE ${familyOf(table, 'SELECT id FROM unnest($2::uuid[]) AS given (id)', '$1')}`,
    remember: `
  INSERT INTO erased_contacts (organization_id, contact_hash)
  SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING`,
    remove: `DELETE FROM ${table} WHERE organization_id = $1 AND id = ANY($2::uuid[])`,
    removeErased: removeErased(options),
  };
}
