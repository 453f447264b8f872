import { Module } from '@nestjs/common';
import { PasswordHashing } from './password-hashing.js';
import { PasswordPool } from './password-pool.js';

/** What is done with a password when it is set, and when somebody signs in with it. */
@Module({ providers: [PasswordHashing, PasswordPool], exports: [PasswordHashing] })
export class PasswordsModule {}
