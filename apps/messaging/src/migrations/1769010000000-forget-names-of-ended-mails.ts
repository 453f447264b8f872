import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `IDENTITY_LANE` as it is now; a migration does not follow what the code becomes. */
const LANE = 2;
/** Mails of one statement. */
const AT_ONCE = 500;

/** Reads all rows once and keeps nobody from any. */
const ENDED = `
  SELECT organization_id, id FROM sends
   WHERE lane = ${String(LANE)} AND due_at IS NULL AND recipient #> '{link,names}' IS NOT NULL`;
const FORGET = `
  UPDATE sends SET recipient = recipient #- '{link,names}'
   WHERE (organization_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) AND due_at IS NULL`;

interface Mail {
  organization_id: string;
  id: string;
}

/** Takes the names of factors out of mails that ended before their names went with their end. Done again it changes nothing. */
export class ForgetNamesOfEndedMails1769010000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const mails = await across(runner, () => runner.query(ENDED) as Promise<Mail[]>);
    for (let from = 0; from < mails.length; from += AT_ONCE) {
      const some = mails.slice(from, from + AT_ONCE);
      const keys = [some.map((mail) => mail.organization_id), some.map(({ id }) => id)];
      await across(runner, () => runner.query(FORGET, keys));
    }
  }

  async down(): Promise<void> {
    // What a person called a factor is known to nobody any more.
  }
}

async function across<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL app.worker = 'on'`);
    const result = await work();
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}
