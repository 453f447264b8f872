import { Module } from '@nestjs/common';
import { PasswordHashing } from './password-hashing.js';

/** What is done with a password when it is set. */
@Module({ providers: [PasswordHashing], exports: [PasswordHashing] })
export class PasswordsModule {}
