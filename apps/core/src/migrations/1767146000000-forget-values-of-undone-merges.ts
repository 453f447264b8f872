import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What stays: the fields by name and which side was kept, what was moved, what stood in the way. */
const FORGET = `CREATE FUNCTION forget_values_of_undone_merge() RETURNS trigger LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
BEGIN
  NEW.changes := '[]';
  NEW.outcome := NEW.outcome || jsonb_build_object('consents', '[]'::jsonb, 'fields', coalesce(
    (SELECT jsonb_agg(jsonb_build_object('field', one.field -> 'field', 'kept', one.field -> 'kept') ORDER BY one.place)
       FROM jsonb_array_elements(NEW.outcome -> 'fields') WITH ORDINALITY AS one (field, place)), '[]'));
  RETURN NEW;
END $$`;

/** By a trigger: the release before this one forgets, too, what it undoes. */
const TRIGGER = `CREATE TRIGGER contact_merges_forget BEFORE UPDATE ON contact_merges
  FOR EACH ROW WHEN (NEW.status = 'undone') EXECUTE FUNCTION forget_values_of_undone_merge()`;

/** All rows, whose organizations the owner could not see otherwise: an error rather than some of them. */
const FORGET_ALL = [
  'ALTER TABLE contact_merges NO FORCE ROW LEVEL SECURITY',
  'SET LOCAL row_security = off',
  `UPDATE contact_merges SET status = status WHERE status = 'undone'`,
  'SET LOCAL row_security = on',
  'ALTER TABLE contact_merges FORCE ROW LEVEL SECURITY',
];

/** A merge that is undone keeps no values: they may be of somebody who is erased since. */
export class ForgetValuesOfUndoneMerges1767146000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [FORGET, TRIGGER, ...FORGET_ALL]);
  }

  /** What is forgotten stays so; either release reads rows without it. */
  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER contact_merges_forget ON contact_merges',
      'DROP FUNCTION forget_values_of_undone_merge()',
    ]);
  }
}
