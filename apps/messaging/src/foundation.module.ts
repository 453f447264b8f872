import { Global, Module } from '@nestjs/common';
import { Tenants as TenantsOfRegistry } from '@customer-platform/authorization';
import { CoreContacts } from '@customer-platform/contact-refs';
import { BackgroundJobs } from './background/jobs/background-jobs.js';
import { MakerRights } from './background/makers/maker-rights.js';
import { Tenants } from './background/organizations/tenants.js';
import { ProviderRegistry } from './providers/provider-registry.js';
import { AddressKeys } from './vocabulary/addresses/address-keys.provider.js';
import { MESSAGING_CONFIG, messagingConfig } from './vocabulary/config/messaging.config.js';

const shared = [AddressKeys, BackgroundJobs, CoreContacts, MakerRights];

/** Provides what all rooms stand on: the services of those that have no door. No transport is among it. */
@Global()
@Module({
  providers: [
    { provide: MESSAGING_CONFIG, useFactory: () => messagingConfig() },
    { provide: ProviderRegistry, useFactory: () => new ProviderRegistry() },
    { provide: Tenants, useExisting: TenantsOfRegistry },
    ...shared,
  ],
  exports: [MESSAGING_CONFIG, ProviderRegistry, Tenants, ...shared],
})
export class FoundationModule {}
