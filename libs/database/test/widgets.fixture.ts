import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import type { RequestContext } from '@customer-platform/http';
import {
  ChangeRecorder,
  Clock,
  createTextCollations,
  Database,
  dropIndexesByLanguage,
  dropTextCollations,
  dropPlatformTables,
  execute,
  indexByLanguage,
  platformTables,
  ResourceStore,
  rowSecurity,
  type MigrationClass,
  type RecordedChange,
  type ResourceDefinition,
  type Transaction,
} from '../src/index.js';
import { dataSourceOf } from '../src/data-source.js';
import { Widget } from './widget.entity.js';

class CreateWidgets1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `CREATE TABLE widgets (
        organization_id uuid NOT NULL, id uuid NOT NULL, name text NOT NULL, settings jsonb NOT NULL DEFAULT '{}',
        weight integer, created_at timestamptz(3) NOT NULL, updated_at timestamptz(3) NOT NULL,
        deleted_at timestamptz(3), PRIMARY KEY (organization_id, id))`,
      `CREATE UNIQUE INDEX widgets_name ON widgets (organization_id, lower(name)) WHERE deleted_at IS NULL`,
      ...rowSecurity('widgets'),
      `CREATE TABLE parts (
        organization_id uuid NOT NULL, id uuid NOT NULL, widget_id uuid NOT NULL,
        made_at timestamptz(3) NOT NULL DEFAULT now(), PRIMARY KEY (organization_id, id),
        CONSTRAINT parts_widget FOREIGN KEY (organization_id, widget_id) REFERENCES widgets (organization_id, id))`,
      'CREATE INDEX parts_by_widget ON parts (organization_id, widget_id, made_at, id)',
      ...rowSecurity('parts'),
      `CREATE TABLE jobs (organization_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (organization_id, id))`,
      ...rowSecurity('jobs', { worker: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE jobs, parts, widgets']);
  }
}

class CreatePlatformTables1700000001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, platformTables());
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, dropPlatformTables());
  }
}

class SortWidgetsByLanguage1700000001500 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createTextCollations(runner);
    await indexByLanguage(
      runner,
      'widgets_by_name',
      (collate) => `ON widgets (organization_id, (name ${collate}), id)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropIndexesByLanguage(runner, 'widgets_by_name');
    await dropTextCollations(runner);
  }
}

export const WIDGET_MIGRATIONS: MigrationClass[] = [
  CreateWidgets1700000000000,
  CreatePlatformTables1700000001000,
  SortWidgetsByLanguage1700000001500,
];

/** Remembers what it was told, where libs/audit would write rows. */
class RememberedChanges extends ChangeRecorder {
  readonly changes: RecordedChange[] = [];

  async record(_tx: Transaction, _context: RequestContext, change: RecordedChange): Promise<void> {
    this.changes.push(change);
  }
}

export interface WidgetWorld {
  test: TestDatabase;
  source: DataSource;
  database: Database;
  recorder: RememberedChanges;
  store(definition?: Partial<ResourceDefinition<Widget>>): ResourceStore<Widget>;
  close(): Promise<void>;
}

/** A migrated database with widgets, and a pool of this many connections to it. */
export async function aWidgetWorld(
  poolSize = 4,
  via: (url: string) => string = (url) => url,
): Promise<WidgetWorld> {
  const test = await testDatabase('widgets', WIDGET_MIGRATIONS);
  const source = dataSourceOf({
    module: 'widgets',
    entities: [Widget],
    migrations: WIDGET_MIGRATIONS,
    url: via(test.url),
    poolSize,
  });
  await source.initialize();
  const database = new Database(source);
  const recorder = new RememberedChanges();
  return {
    test,
    source,
    database,
    recorder,
    store: (definition = {}) =>
      new ResourceStore<Widget>(database, recorder, new Clock(), {
        entity: Widget,
        module: 'widgets',
        resource: 'widgets',
        constraints: {
          unique: {
            widgets_name: { field: 'name', pointer: '/name', value: 'lower(name)', tellConflicting: true },
          },
          references: { parts_widget: { module: 'widgets', resource: 'parts' } },
        },
        ...definition,
      }),
    close: async () => {
      await source.destroy();
      await test.drop();
    },
  };
}
