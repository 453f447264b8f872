import { Injectable } from '@nestjs/common';
import { Places } from '@customer-platform/http';
import { OrganizationTenants } from './organization-tenants.js';

/** Requests that wait for a provider at the same time, in one process. */
export const WAITING_AT_ONCE = { inAll: 48, ofTenant: 24, ofOrganization: 18 };
/** The places of one connection among its organization's, so that a provider that hangs leaves the others theirs. */
const OF_CONNECTION = { inAll: Infinity, ofTenant: WAITING_AT_ONCE.ofOrganization, ofOrganization: 16 };

/** Too many wait for a provider already. */
export class ProviderBusy extends Error {
  override readonly name = 'ProviderBusy';

  constructor() {
    super('too many requests wait for the provider of a connection');
  }
}

/** Whose provider is waited for. */
export interface PlaceOf {
  readonly id: string;
  readonly organizationId: string;
}

/**
 * A bulkhead around providers: one that hangs holds each request for seconds, and with it one of the connections that
 * the gateway has to this process. Only so many are held; who comes beyond is refused at once, and nobody else waits.
 */
@Injectable()
export class ProviderPlaces {
  private readonly places = new Places(WAITING_AT_ONCE, () => new ProviderBusy());
  /** A connection within its organization, as an organization is within its tenant. */
  private readonly ofConnections = new Places(OF_CONNECTION, () => new ProviderBusy());

  constructor(private readonly tenants: OrganizationTenants) {}

  /** Waits for a provider by `work`. @throws ProviderBusy at once where no place is free, and what `work` throws */
  async run<T>({ id, organizationId }: PlaceOf, work: () => Promise<T>): Promise<T> {
    const organization = { tenant_id: await this.tenants.of(organizationId) };
    const connection = { organizationId: id, organization: { tenant_id: organizationId } };
    return this.ofConnections.hold(connection, () =>
      this.places.hold({ organizationId, organization }, work),
    );
  }
}

/** The same around name servers, which prove domains: whose hang takes no place from who signs in. */
@Injectable()
export class NameServerPlaces extends ProviderPlaces {}
