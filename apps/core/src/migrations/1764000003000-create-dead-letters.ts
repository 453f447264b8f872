import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `payload` is the event byte by byte as it was received; what a replay runs again. */
const DEAD_LETTERS = `CREATE TABLE dead_letters (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL CHECK (type IN ('track', 'identify')),
  stage text NOT NULL CHECK (stage IN ('validate', 'resolve', 'store', 'profile', 'segments', 'emit', 'loyalty')),
  code text NOT NULL,
  detail text NOT NULL,
  attempts integer NOT NULL CHECK (attempts >= 1),
  payload bytea,
  external_id text,
  contact_id uuid,
  state text NOT NULL CHECK (state IN ('pending', 'replaying', 'replayed', 'closed')),
  closed_reason text,
  fingerprint uuid NOT NULL,
  received_at timestamptz(3) NOT NULL,
  first_failed_at timestamptz(3) NOT NULL,
  last_failed_at timestamptz(3) NOT NULL,
  replay_correlation_id uuid,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
)`;

/** Events that failed, and the queue of those to be run again. */
export class CreateDeadLetters1764000003000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      DEAD_LETTERS,
      // One letter for each body that was sent under a key; loyalty's is a letter of its own.
      `CREATE UNIQUE INDEX dead_letters_once ON dead_letters
         (organization_id, event_id, fingerprint, (stage = 'loyalty'))`,
      'CREATE INDEX dead_letters_by_failure ON dead_letters (organization_id, last_failed_at, id)',
      'CREATE INDEX dead_letters_by_state ON dead_letters (organization_id, state, last_failed_at, id)',
      'CREATE INDEX dead_letters_by_external_id ON dead_letters (organization_id, external_id)',
      'CREATE INDEX dead_letters_by_contact ON dead_letters (organization_id, contact_id)',
      `CREATE INDEX dead_letters_to_replay ON dead_letters (updated_at) WHERE state = 'replaying'`,
      ...rowSecurity('dead_letters', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE dead_letters']);
  }
}
