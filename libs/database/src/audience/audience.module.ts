import { type DynamicModule, Module } from '@nestjs/common';
import { Database } from '../database.js';
import { AudienceController } from './audience.controller.js';
import { Audiences, type AudienceSource } from './audiences.js';

/** Serves `/internal/audience` from a module's segments or lists. Needs `DatabaseModule`. */
@Module({})
export class AudienceModule {
  static forRoot(source: AudienceSource): DynamicModule {
    return {
      module: AudienceModule,
      controllers: [AudienceController],
      providers: [
        {
          provide: Audiences,
          inject: [Database],
          useFactory: (database: Database) => new Audiences(database, source),
        },
      ],
    };
  }
}
