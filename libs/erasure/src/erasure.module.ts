import { type DynamicModule, Module } from '@nestjs/common';
import { SigningKeysModule } from '@customer-platform/database';
import { ErasureKeysController } from './erasure-keys.controller.js';
import { ERASING_MODULE, Erasures } from './erasures.js';
import type { ErasingModule } from './receipts.js';

/**
 * Provides `Erasures` and serves `/internal/erasure/keys`. Needs `DatabaseModule` and `EventBusModule`; the module's
 * migrations make `signingKeysTable()` and `erasureReceiptsTable()`.
 */
@Module({})
export class ErasureModule {
  /** For the module of this name. */
  static forRoot({ module }: { module: ErasingModule }): DynamicModule {
    return {
      module: ErasureModule,
      imports: [SigningKeysModule.forRoot({ module })],
      controllers: [ErasureKeysController],
      providers: [{ provide: ERASING_MODULE, useValue: module }, Erasures],
      exports: [Erasures],
    };
  }
}
