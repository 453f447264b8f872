import type { MigrationInterface, QueryRunner } from 'typeorm';
import { execute } from '@customer-platform/database';

/**
 * Texts read contacts by the rights of who asks for a send, or of who published them (messaging.md §5). What was
 * published, or asked for, before that was noted goes on as it did.
 */
export class WithholdContacts1768930000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE template_publishers ADD COLUMN reads_contacts boolean',
      'ALTER TABLE send_payloads ADD COLUMN withholds_contact boolean NOT NULL DEFAULT false',
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE send_payloads DROP COLUMN withholds_contact',
      'ALTER TABLE template_publishers DROP COLUMN reads_contacts',
    ]);
  }
}
