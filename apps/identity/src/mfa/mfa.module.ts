import { Module } from '@nestjs/common';
import { encryptionConfig, keyringOf, readConfig } from '@customer-platform/config';
import { KeySeal } from '@customer-platform/database';
import { SessionsModule } from '../sessions/sessions.module.js';
import { FactorRemoval } from './factor-removal.js';
import { MfaAttempts } from './mfa-attempts.js';
import { MfaController } from './mfa.controller.js';
import { MfaService } from './mfa.service.js';
import { sealOfFactors } from './factor-seal.js';
import { RecoveryCodesStore } from './recovery-codes.store.js';

/** Users' second factors. */
@Module({
  imports: [SessionsModule],
  controllers: [MfaController],
  providers: [
    {
      provide: KeySeal,
      useFactory: () => sealOfFactors(keyringOf(readConfig(encryptionConfig))),
    },
    FactorRemoval,
    MfaAttempts,
    MfaService,
    RecoveryCodesStore,
  ],
  exports: [FactorRemoval],
})
export class MfaModule {}
