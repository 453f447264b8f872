import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tenant tokens that were used, until they would have ended by themselves: each is good for one exchange. */
const MEMBER_ASSERTIONS = `CREATE TABLE member_assertions (
  organization_id uuid NOT NULL,
  jti_hash bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, jti_hash)
)`;

/** What keeps a tenant token from being exchanged twice. */
export class CreateMemberAssertions1764210002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      MEMBER_ASSERTIONS,
      'CREATE INDEX member_assertions_by_end ON member_assertions (organization_id, expires_at)',
      ...rowSecurity('member_assertions'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE member_assertions']);
  }
}
