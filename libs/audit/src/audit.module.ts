import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ChangeRecorder, ResourceStores } from '@customer-platform/database';
import { Audit, AUDITED_MODULE } from './audit.js';
import { AuditedChanges } from './audited-changes.recorder.js';

/** Provides `Audit`, and `ResourceStores` whose changes are audited. Needs `DatabaseModule` and `EventBusModule`. */
@Global()
@Module({})
export class AuditModule {
  /** For the module of this name. */
  static forRoot(options: { module: string }): DynamicModule {
    return {
      module: AuditModule,
      providers: [
        { provide: AUDITED_MODULE, useValue: options.module },
        Audit,
        { provide: ChangeRecorder, useClass: AuditedChanges },
        ResourceStores,
      ],
      exports: [Audit, ChangeRecorder, ResourceStores],
    };
  }
}
