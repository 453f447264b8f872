import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ReferenceHolds } from './reference-holds.js';
import { ReferencesController } from './references.controller.js';
import { REFERENCES_OPTIONS, type ReferencesModuleOptions } from './references.options.js';
import { RemoteReferences } from './remote-references.js';

/**
 * References across modules: serves `/internal/references` from what the options count, and provides
 * `ReferenceHolds` to those who write such references and `RemoteReferences` to those who purge. A module with
 * `references` has the table of `referenceHoldsTable()`.
 */
@Global()
@Module({})
export class ReferencesModule {
  static forRoot(options: ReferencesModuleOptions): DynamicModule {
    return {
      module: ReferencesModule,
      controllers: [ReferencesController],
      providers: [{ provide: REFERENCES_OPTIONS, useValue: options }, ReferenceHolds, RemoteReferences],
      exports: [ReferenceHolds, RemoteReferences],
    };
  }
}
