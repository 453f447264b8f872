import { TEXT_COLLATIONS, type TextCollation } from '@customer-platform/http';
import type { QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

const NAMES = Object.keys(TEXT_COLLATIONS) as TextCollation[];

/**
 * Makes the collations in which text that people read is sorted. They are deterministic: texts of different bytes are
 * never equal. Repeatable, for migrations that say `transaction = false`.
 * @throws Error that says what to do if PostgreSQL was built without ICU
 */
export async function createTextCollations(runner: QueryRunner): Promise<void> {
  for (const [name, locale] of Object.entries(TEXT_COLLATIONS))
    try {
      await runner.query(
        `CREATE COLLATION IF NOT EXISTS ${name} (provider = icu, locale = '${locale}', deterministic = true)`,
      );
    } catch (error) {
      if (!isUnsupported(error)) throw error;
      throw new Error(
        'This PostgreSQL was built without ICU (--with-icu), by which names are sorted. Move the database to a ' +
          'server that has it; until then nothing has been changed.',
        { cause: error },
      );
    }
}

/** Takes the collations away; the indexes in their orders are gone before. */
export async function dropTextCollations(runner: QueryRunner): Promise<void> {
  for (const name of NAMES) await runner.query(`DROP COLLATION IF EXISTS ${name}`);
}

/**
 * Makes an index for each of the collations, named `<name>_es` and `<name>_root`, without keeping anybody from writing.
 * @param on what stands after the index's name, by the clause of the collation: `ON lists (organization_id, name COLLATE …, id)`
 */
export async function indexByLanguage(
  runner: QueryRunner,
  name: string,
  on: (collate: string) => string,
): Promise<void> {
  for (const collation of NAMES)
    await createIndexConcurrently(runner, indexOf(name, collation), on(`COLLATE ${collation}`));
}

/** Takes away what {@link indexByLanguage} made. */
export async function dropIndexesByLanguage(runner: QueryRunner, name: string): Promise<void> {
  for (const collation of NAMES) await runner.query(`DROP INDEX IF EXISTS ${indexOf(name, collation)}`);
}

function indexOf(name: string, collation: TextCollation): string {
  return name + collation.slice('text'.length);
}

/** Tells whether PostgreSQL was built without it. */
function isUnsupported(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '0A000';
}
