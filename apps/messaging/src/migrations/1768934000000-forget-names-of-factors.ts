import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `IDENTITY_LANE` as it is now; a migration does not follow what the code becomes. */
const LANE = 2;

/** One place for all ways to end, and for dispatchers of the release before. */
const FORGET = [
  `CREATE FUNCTION forget_names_of_factors() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN NEW.recipient := NEW.recipient #- '{link,names}'; RETURN NEW; END $$`,
  `CREATE TRIGGER sends_forget_names BEFORE UPDATE OF due_at ON sends FOR EACH ROW
     WHEN (NEW.lane = ${String(LANE)} AND NEW.due_at IS NULL AND NEW.recipient #> '{link,names}' IS NOT NULL)
     EXECUTE FUNCTION forget_names_of_factors()`,
];

/** Keeps what a person calls a factor until the mail has ended and no longer: nobody tells when the person is gone. */
export class ForgetNamesOfFactors1768934000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, FORGET);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TRIGGER sends_forget_names ON sends',
      'DROP FUNCTION forget_names_of_factors()',
    ]);
  }
}
