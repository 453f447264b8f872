import { Module } from '@nestjs/common';
import { encryptionConfig, readConfig } from '@customer-platform/config';
import { Clock, Database, retentionOf } from '@customer-platform/database';
import { SessionsModule } from '../sessions/sessions.module.js';
import { OLD_ATTEMPTS, PasswordAttempts } from './password-attempts.js';
import { PasswordChanges } from './password-changes.js';
import { PasswordHashing } from './password-hashing.js';
import { PasswordPool } from './password-pool.js';
import { PasswordRules } from './password-rules.js';

/** What is done with a password when it is set, and when somebody signs in with it. */
@Module({
  imports: [SessionsModule],
  providers: [
    {
      provide: PasswordAttempts,
      useFactory: (database: Database, clock: Clock) =>
        new PasswordAttempts(database, clock, readConfig(encryptionConfig).ENCRYPTION_KEY),
      inject: [Database, Clock],
    },
    PasswordChanges,
    PasswordHashing,
    PasswordPool,
    PasswordRules,
    retentionOf(OLD_ATTEMPTS),
  ],
  exports: [PasswordAttempts, PasswordChanges, PasswordHashing, PasswordRules],
})
export class PasswordsModule {}
