import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import {
  DatabaseModule,
  dropPlatformTables,
  execute,
  consumerPositionsTable,
  parkedProofs,
  platformTables,
  rowSecurity,
  type MigrationClass,
} from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Widget } from './widget.entity.js';
import { WidgetsController } from './widgets.controller.js';

class CreateWidgets1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...platformTables(),
      ...parkedProofs(),
      ...consumerPositionsTable(),
      `CREATE TABLE widgets (
        organization_id uuid NOT NULL, id uuid NOT NULL, name text NOT NULL, weight integer,
        created_at timestamptz(3) NOT NULL, updated_at timestamptz(3) NOT NULL, deleted_at timestamptz(3),
        PRIMARY KEY (organization_id, id))`,
      `CREATE UNIQUE INDEX widgets_name ON widgets (organization_id, lower(name)) WHERE deleted_at IS NULL`,
      ...rowSecurity('widgets'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, ['DROP TABLE widgets, consumer_positions', ...dropPlatformTables()]);
  }
}

export const WIDGET_MIGRATIONS: MigrationClass[] = [CreateWidgets1700000000000];

/** A module with one resource, put together as every module is. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'loyalty', entities: [Widget], migrations: WIDGET_MIGRATIONS }),
    EventBusModule.forRoot({ module: 'loyalty' }),
    AuditModule.forRoot({ module: 'loyalty' }),
    AuthorizationModule.forRoot({ module: 'loyalty' }),
  ],
  controllers: [WidgetsController],
})
export class WidgetsModule {}
