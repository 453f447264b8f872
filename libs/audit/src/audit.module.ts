import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ChangeRecorder, ResourceStores } from '@customer-platform/database';
import { REFUSAL_RECORDER } from '@customer-platform/http';
import { Audit, AUDITED_MODULE } from './audit.js';
import { AuditedChanges } from './audited-changes.recorder.js';
import { AuditedRefusals } from './audited-refusals.js';

/**
 * Provides `Audit`, `ResourceStores` whose changes are audited, and the record of refusals. Needs `DatabaseModule` and
 * `EventBusModule`.
 */
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
        { provide: REFUSAL_RECORDER, useClass: AuditedRefusals },
        ResourceStores,
      ],
      exports: [Audit, ChangeRecorder, ResourceStores],
    };
  }
}
