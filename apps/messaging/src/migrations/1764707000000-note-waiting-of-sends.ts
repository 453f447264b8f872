import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Since when a send waits for what another module has to say of its recipient; its patience counts from there. */
export class NoteWaitingOfSends1764707000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE sends ADD COLUMN waiting_since timestamptz(3)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE sends DROP COLUMN waiting_since');
  }
}
