import { type DynamicModule, Module } from '@nestjs/common';
import { Database } from '../database.js';
import { SubjectRowsController } from './subject-rows.controller.js';
import { SubjectRows } from './subject-rows.js';
import type { SubjectTable } from './subject-table.js';

/** Serves `/internal/subject-rows` from these tables. Needs `DatabaseModule`. */
@Module({})
export class SubjectRowsModule {
  /** @param options.unsettled as of `SubjectRows` */
  static forRoot({
    tables,
    unsettled,
  }: {
    tables: readonly SubjectTable[];
    unsettled?: string;
  }): DynamicModule {
    return {
      module: SubjectRowsModule,
      controllers: [SubjectRowsController],
      providers: [
        {
          provide: SubjectRows,
          inject: [Database],
          useFactory: (database: Database) => new SubjectRows(database, tables, unsettled),
        },
      ],
      exports: [SubjectRows],
    };
  }
}
