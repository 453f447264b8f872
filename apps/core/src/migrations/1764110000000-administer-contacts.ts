import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the administration of contacts needs: the national id (sealed, with a keyed index and its mask), and identities
 * that a soft-deleted contact has yielded to another: values are unique among active contacts only, and a restore asks
 * for them back. Lists by last name read one range of an index in either direction, contacts without one included.
 */
export class AdministerContacts1764110000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `ALTER TABLE contacts
         ADD COLUMN national_id_type text,
         ADD COLUMN national_id_index text,
         ADD COLUMN national_id_sealed text,
         ADD COLUMN national_id_masked text`,
      `CREATE UNIQUE INDEX contacts_national_id ON contacts (organization_id, national_id_type, national_id_index)
         WHERE national_id_index IS NOT NULL AND deleted_at IS NULL AND merged_into IS NULL`,
      'CREATE INDEX contacts_by_country ON contacts (organization_id, country, created_at, id) WHERE country IS NOT NULL',
      'DROP INDEX contacts_by_last_name',
      `CREATE INDEX contacts_by_last_name ON contacts (organization_id, coalesce(last_name, ''), id)`,
      'CREATE INDEX contacts_by_survivor ON contacts (organization_id, merged_into) WHERE merged_into IS NOT NULL',
      'ALTER TABLE identities ADD COLUMN yielded_at timestamptz(3)',
      'ALTER TABLE identities DROP CONSTRAINT identities_owner',
      `CREATE UNIQUE INDEX identities_owner ON identities (organization_id, type, normal_value)
         WHERE yielded_at IS NULL`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DELETE FROM identities WHERE yielded_at IS NOT NULL',
      'DROP INDEX identities_owner',
      'ALTER TABLE identities ADD CONSTRAINT identities_owner UNIQUE (organization_id, type, normal_value)',
      'ALTER TABLE identities DROP COLUMN yielded_at',
      'DROP INDEX contacts_by_survivor, contacts_by_last_name, contacts_by_country, contacts_national_id',
      'CREATE INDEX contacts_by_last_name ON contacts (organization_id, last_name, id)',
      `ALTER TABLE contacts DROP COLUMN national_id_type, DROP COLUMN national_id_index,
         DROP COLUMN national_id_sealed, DROP COLUMN national_id_masked`,
    ]);
  }
}
