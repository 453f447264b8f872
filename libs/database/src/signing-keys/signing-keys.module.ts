import { type DynamicModule, Module } from '@nestjs/common';
import { encryptionConfig, readConfig } from '@customer-platform/config';
import { KeySeal } from './key-seal.js';
import { SigningKeys } from './signing-keys.js';

/** The keys that a module signs with. Reads `ENCRYPTION_KEY`; the module's migrations make `signingKeysTable()`. */
@Module({})
export class SigningKeysModule {
  static forRoot({ module }: { module: string }): DynamicModule {
    return {
      module: SigningKeysModule,
      providers: [
        {
          provide: KeySeal,
          useFactory: () =>
            new KeySeal(readConfig(encryptionConfig).ENCRYPTION_KEY, `${module} signing keys at rest`),
        },
        SigningKeys,
      ],
      exports: [SigningKeys],
    };
  }
}
