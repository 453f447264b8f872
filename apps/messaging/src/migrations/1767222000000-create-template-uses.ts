import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const USES = `CREATE TABLE template_uses (
  organization_id uuid NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  -- The layout or partial whose text stands in that version, and which version of it.
  used_id uuid NOT NULL,
  used_version integer NOT NULL,
  PRIMARY KEY (organization_id, template_id, version, used_id),
  FOREIGN KEY (organization_id, template_id, version) REFERENCES template_versions ON DELETE CASCADE
)`;

/** Templates that are parts of others: layouts and partials, and which versions hold which of them. */
export class CreateTemplateUses1767222000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `ALTER TABLE templates ADD COLUMN kind text NOT NULL DEFAULT 'message', ADD COLUMN layout text`,
      `ALTER TABLE templates ADD CONSTRAINT templates_kind_check CHECK (kind IN ('message', 'layout', 'partial')) NOT VALID`,
      'ALTER TABLE template_versions ADD COLUMN layout text',
      USES,
      'CREATE INDEX template_uses_by_used ON template_uses (organization_id, used_id)',
      ...rowSecurity('template_uses', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'DROP TABLE template_uses',
      'ALTER TABLE template_versions DROP COLUMN layout',
      // Nothing tells them from messages any more.
      `UPDATE templates SET published_version = NULL WHERE kind <> 'message'`,
      'ALTER TABLE templates DROP COLUMN kind, DROP COLUMN layout',
    ]);
  }
}
