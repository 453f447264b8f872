import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The makers there were are of fewer types: this reads all rows and keeps nobody from any. */
export class CheckWebhookMakers1767113110000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_maker_type_check',
    );
  }

  /** The constraint goes with what made it. */
  async down(): Promise<void> {}
}
