import { Module } from '@nestjs/common';
import { encryptionConfig, readConfig } from '@customer-platform/config';
import { KeySeal } from './key-seal.js';
import { SigningKeys } from './signing-keys.js';

/** The keys that core signs with. */
@Module({
  providers: [
    { provide: KeySeal, useFactory: () => new KeySeal(readConfig(encryptionConfig).ENCRYPTION_KEY) },
    SigningKeys,
  ],
  exports: [SigningKeys],
})
export class SigningKeysModule {}
