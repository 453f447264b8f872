import type { OrganizationSnapshot } from './request-context.js';

/** Whose place it is. */
export interface PlaceOwner {
  readonly organizationId: string;
  readonly organization: Pick<OrganizationSnapshot, 'tenant_id'>;
}

/** How many places there are on one instance. */
export interface PlaceBounds {
  readonly inAll: number;
  /** Of one tenant: the organization below the root with all beneath it, so that founding further ones gives no more. */
  readonly ofTenant: number;
  /** Of one organization; fewer than its tenant's, so that none starves its siblings. */
  readonly ofOrganization: number;
}

/** What is used up: something of the caller's, or of everybody's. */
export type PlaceScope = 'organization' | 'platform';

/** The tenant that an organization belongs to; the root belongs to nobody and is its own. */
export function tenantOf({ organizationId, organization }: PlaceOwner): string {
  return organization.tenant_id ?? organizationId;
}

/**
 * The one way to bound what may be going on at once on an instance: by organization, by tenant and in all. Whoever
 * finds no place is refused at once and has taken none.
 */
export class Places {
  private readonly taken = new Map<string, number>();

  /** @param refusal what is thrown where there is no place */
  constructor(
    private readonly bounds: PlaceBounds,
    private readonly refusal: (scope: PlaceScope) => Error,
  ) {
    const { ofOrganization, ofTenant, inAll } = bounds;
    if (ofOrganization >= ofTenant || ofTenant >= inAll)
      throw new TypeError('an organization has fewer places than its tenant, and a tenant fewer than all');
  }

  /** Has a place for as long as `work` lasts. @throws what the refusal gives, and what `work` throws */
  async hold<T>(owner: PlaceOwner, work: () => Promise<T>): Promise<T> {
    const leave = this.take(owner);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** @returns what gives the place back, once however often it is called. @throws what the refusal gives */
  take(owner: PlaceOwner): () => void {
    const full = this.full(owner);
    if (full) throw this.refusal(full);
    const names = [organizationName(owner), tenantName(owner), 'all'];
    for (const name of names) this.add(name, 1);
    let isHeld = true;
    return () => {
      if (isHeld) for (const name of names) this.add(name, -1);
      isHeld = false;
    };
  }

  /** @returns whose places are used up, or undefined where there is one to take */
  full(owner: PlaceOwner): PlaceScope | undefined {
    const { inAll, ofTenant, ofOrganization } = this.bounds;
    const isOwnFull =
      this.of(organizationName(owner)) >= ofOrganization || this.of(tenantName(owner)) >= ofTenant;
    if (isOwnFull) return 'organization';
    return this.of('all') >= inAll ? 'platform' : undefined;
  }

  private of(name: string): number {
    return this.taken.get(name) ?? 0;
  }

  private add(name: string, by: 1 | -1): void {
    const count = this.of(name) + by;
    if (count > 0) this.taken.set(name, count);
    else this.taken.delete(name);
  }
}

function organizationName({ organizationId }: PlaceOwner): string {
  return `organization ${organizationId}`;
}

function tenantName(owner: PlaceOwner): string {
  return `tenant ${tenantOf(owner)}`;
}
