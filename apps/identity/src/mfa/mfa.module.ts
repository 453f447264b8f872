import { Module } from '@nestjs/common';
import { encryptionConfig, keyringOf, readConfig } from '@customer-platform/config';
import { KeySeal } from '@customer-platform/database';
import { SessionsModule } from '../sessions/sessions.module.js';
import { FactorRemoval } from './factor-removal.js';
import { FactorsStore } from './factors.store.js';
import { MfaAttempts } from './mfa-attempts.js';
import { MfaJournal } from './mfa-journal.js';
import { MfaController } from './mfa.controller.js';
import { MfaService } from './mfa.service.js';
import { sealOfFactors } from './factor-seal.js';
import { RecoveryCodesStore } from './recovery-codes.store.js';
import { SignInFactors } from './sign-in-factors.js';

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
    FactorsStore,
    MfaAttempts,
    MfaJournal,
    MfaService,
    RecoveryCodesStore,
    SignInFactors,
  ],
  exports: [FactorRemoval, SignInFactors],
})
export class MfaModule {}
