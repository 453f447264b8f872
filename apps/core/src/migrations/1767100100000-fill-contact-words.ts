import type { MigrationInterface, QueryRunner } from 'typeorm';

const AT_ONCE = 1_000;

interface Place {
  organization_id: string;
  id: string;
}

/**
 * The next contacts, of all organizations. Locked, so that a change of one waits for its words, which it replaces, or
 * they are those of the contact as it is after the change.
 */
const FILL = `
  WITH next AS MATERIALIZED (
    SELECT organization_id, id, first_name, last_name, email, phone, external_id FROM contacts
     WHERE (organization_id, id) > ($1::uuid, $2::uuid)
     ORDER BY organization_id, id LIMIT ${String(AT_ONCE)} FOR SHARE),
  filled AS (
    INSERT INTO contact_words (organization_id, contact_id, word)
    SELECT next.organization_id, next.id, word
      FROM next, words_of_contact(ARRAY[next.first_name, next.last_name],
                                  ARRAY[next.email, next.phone, next.external_id]) AS word
    ON CONFLICT DO NOTHING)
  SELECT organization_id, id FROM next ORDER BY organization_id DESC, id DESC LIMIT 1`;

/**
 * The words of contacts that were there before the table was, a thousand contacts at a time. Repeatable from
 * the beginning.
 */
export class FillContactWords1767100100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const nowhere = '00000000-0000-0000-0000-000000000000';
    for (let last: Place | undefined = { organization_id: nowhere, id: nowhere }; last;)
      last = await fillAfter(runner, last);
  }

  async down(): Promise<void> {
    // They go with their table.
  }
}

async function fillAfter(runner: QueryRunner, last: Place): Promise<Place | undefined> {
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL app.worker = 'on'`);
    const [next] = (await runner.query(FILL, [last.organization_id, last.id])) as Place[];
    await runner.commitTransaction();
    return next;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}
