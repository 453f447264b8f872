import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const EVENT_ROUTING = `CREATE TABLE event_routing (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  event_type text NOT NULL,
  event_name text,
  condition jsonb,
  channel text NOT NULL,
  template_id uuid NOT NULL,
  recipient jsonb NOT NULL,
  category text NOT NULL CHECK (category IN ('transactional', 'marketing')),
  topic text,
  delay_seconds integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  PRIMARY KEY (organization_id, id),
  CONSTRAINT event_routing_template FOREIGN KEY (organization_id, template_id) REFERENCES templates
)`;

/** Which event leads to which message. */
export class CreateEventRouting1763715604000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      EVENT_ROUTING,
      'CREATE UNIQUE INDEX event_routing_name ON event_routing (organization_id, name) WHERE deleted_at IS NULL',
      'CREATE INDEX event_routing_by_time ON event_routing (organization_id, created_at, id)',
      'CREATE INDEX event_routing_by_template ON event_routing (organization_id, template_id)',
      ...rowSecurity('event_routing', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE event_routing');
  }
}
