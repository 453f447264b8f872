import { type DynamicModule, Module } from '@nestjs/common';
import { encryptionConfig, keyringOf, readConfig } from '@customer-platform/config';
import { KeySeal } from './key-seal.js';
import { sealOfSigningKeys, SigningKeys } from './signing-keys.js';

/** The keys that a module signs with. Reads `ENCRYPTION_KEY` and `ENCRYPTION_KEYS`; the module's migrations make `signingKeysTable()`. */
@Module({})
export class SigningKeysModule {
  static forRoot({ module }: { module: string }): DynamicModule {
    return {
      module: SigningKeysModule,
      providers: [
        {
          provide: KeySeal,
          useFactory: () => new KeySeal(keyringOf(readConfig(encryptionConfig)), sealOfSigningKeys(module)),
        },
        SigningKeys,
      ],
      exports: [SigningKeys],
    };
  }
}
