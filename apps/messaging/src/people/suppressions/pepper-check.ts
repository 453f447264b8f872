import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ConfigError } from '@customer-platform/config';
import { askedAtStart, Database } from '@customer-platform/database';
import { SuppressionsRepository } from './suppressions.repository.js';
import { PEPPER_PREFIX_LENGTH } from '../../vocabulary/addresses/address-keys.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';

/** Refuses to start without a pepper that stored keys were made with: their suppressions would match nobody. */
@Injectable()
export class PepperCheck implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly suppressions: SuppressionsRepository,
    private readonly keys: AddressKeys,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const used = await askedAtStart(() =>
      this.database.acrossOrganizations((tx) => this.suppressions.prefixes(tx, PEPPER_PREFIX_LENGTH)),
    );
    if (this.keys.unknownPrefixes(used).length === 0) return;
    throw new ConfigError(
      'ADDRESS_PEPPERS lacks a pepper that stored suppressions still use: put it back, after the current one.',
    );
  }
}
