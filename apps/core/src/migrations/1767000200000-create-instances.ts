import { execute, workersSee } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The instances of core that do something together, each with when it last told that it comes on, and the organizations
 * that it has set aside. No tenant's data: workers only see it. Unlogged: a row is written every second and never
 * grows, and after a crash of the server everybody tells anew.
 */
const INSTANCES = `CREATE UNLOGGED TABLE instances (
  purpose text NOT NULL,
  id uuid NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  set_aside uuid[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (purpose, id)
) WITH (fillfactor = 50)`;

/** What an instance of either release tells is in both tables, so that all count all while both run. */
const MIRROR = `CREATE FUNCTION mirror_instances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'segment_evaluators' THEN
    IF TG_OP = 'DELETE' THEN
      DELETE FROM instances WHERE purpose = 'segments' AND id = OLD.id;
    ELSE
      INSERT INTO instances (purpose, id, seen_at, set_aside) VALUES ('segments', NEW.id, NEW.seen_at, NEW.set_aside)
      ON CONFLICT (purpose, id) DO UPDATE SET seen_at = excluded.seen_at, set_aside = excluded.set_aside;
    END IF;
  ELSIF TG_TABLE_NAME = 'rate_limit_instances' THEN
    IF TG_OP = 'DELETE' THEN
      DELETE FROM instances WHERE purpose = 'rate_limits' AND id = OLD.instance_id;
    ELSE
      INSERT INTO instances (purpose, id, seen_at) VALUES ('rate_limits', NEW.instance_id, NEW.seen_at)
      ON CONFLICT (purpose, id) DO UPDATE SET seen_at = excluded.seen_at;
    END IF;
  ELSIF TG_OP = 'DELETE' THEN
    DELETE FROM segment_evaluators WHERE OLD.purpose = 'segments' AND id = OLD.id;
    DELETE FROM rate_limit_instances WHERE OLD.purpose = 'rate_limits' AND instance_id = OLD.id;
  ELSIF NEW.purpose = 'segments' THEN
    INSERT INTO segment_evaluators (id, seen_at, set_aside) VALUES (NEW.id, NEW.seen_at, NEW.set_aside)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, set_aside = excluded.set_aside;
  ELSE
    INSERT INTO rate_limit_instances (instance_id, seen_at) VALUES (NEW.id, NEW.seen_at)
    ON CONFLICT (instance_id) DO UPDATE SET seen_at = excluded.seen_at;
  END IF;
  RETURN NULL;
END $$`;

const MIRRORED = ['instances', 'segment_evaluators', 'rate_limit_instances'];

/** One table in place of two. The old ones go with the release after this one, and the triggers with them. */
export class CreateInstances1767000200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      INSTANCES,
      'ALTER TABLE instances ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE instances FORCE ROW LEVEL SECURITY',
      workersSee('instances'),
      MIRROR,
      ...MIRRORED.map(
        (table) => `CREATE TRIGGER mirror_instances AFTER INSERT OR UPDATE OR DELETE ON ${table}
          FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION mirror_instances()`,
      ),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...MIRRORED.map((table) => `DROP TRIGGER mirror_instances ON ${table}`),
      'DROP FUNCTION mirror_instances()',
      'DROP TABLE instances',
    ]);
  }
}
