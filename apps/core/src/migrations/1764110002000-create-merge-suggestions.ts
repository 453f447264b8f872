import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Pairs of contacts that may be one person, the smaller id first. `reasons` are values that both claim:
 * `[{signal, type, value, masked}]`. Whether an open pair is stale follows from its contacts and reasons.
 */
const SUGGESTIONS = `CREATE TABLE merge_suggestions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  first_id uuid NOT NULL,
  second_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'merged', 'dismissed')),
  reasons jsonb NOT NULL,
  score double precision NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT merge_suggestions_pair UNIQUE (organization_id, first_id, second_id),
  CONSTRAINT merge_suggestions_order CHECK (first_id < second_id),
  CONSTRAINT merge_suggestions_first FOREIGN KEY (organization_id, first_id)
    REFERENCES contacts (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT merge_suggestions_second FOREIGN KEY (organization_id, second_id)
    REFERENCES contacts (organization_id, id) ON DELETE CASCADE
)`;

/** Who has claimed a value that another contact has: a value that many claim tells nothing of any of them. */
const CLAIMANTS = `CREATE TABLE identity_claimants (
  organization_id uuid NOT NULL,
  type text NOT NULL,
  normal_value text NOT NULL,
  contact_id uuid NOT NULL,
  PRIMARY KEY (organization_id, type, normal_value, contact_id),
  CONSTRAINT identity_claimants_contact FOREIGN KEY (organization_id, contact_id)
    REFERENCES contacts (organization_id, id) ON DELETE CASCADE
)`;

/** What ingestion finds out about contacts that may be one person. */
export class CreateMergeSuggestions1764110002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      SUGGESTIONS,
      'CREATE INDEX merge_suggestions_by_score ON merge_suggestions (organization_id, score, id)',
      'CREATE INDEX merge_suggestions_by_creation ON merge_suggestions (organization_id, created_at, id)',
      'CREATE INDEX merge_suggestions_by_second ON merge_suggestions (organization_id, second_id)',
      ...rowSecurity('merge_suggestions'),
      CLAIMANTS,
      'CREATE INDEX identity_claimants_by_contact ON identity_claimants (organization_id, contact_id)',
      ...rowSecurity('identity_claimants'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE identity_claimants, merge_suggestions']);
  }
}
