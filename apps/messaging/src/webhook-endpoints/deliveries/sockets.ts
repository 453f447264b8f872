import { Injectable } from '@nestjs/common';
import { Places } from '@customer-platform/http';
import { Tenants } from '../../background/organizations/tenants.js';
import type { WaitingEndpoint } from './delivery-queue.js';

/** Sockets of this process; endpoints that hang, however many and of however many organizations, leave others theirs. */
export const SOCKETS_AT_ONCE = { inAll: 2_000, ofTenant: 700, ofOrganization: 500 };

/** Gives a socket back. */
type Leave = () => void;

/** Sockets that were given to endpoints, before it is known what they are used for. */
export class GivenSockets {
  private readonly held = new Map<string, Leave[]>();

  add(endpointId: string, leave: Leave): void {
    const held = this.held.get(endpointId);
    if (held) held.push(leave);
    else this.held.set(endpointId, [leave]);
  }

  count(endpointId: string): number {
    return this.held.get(endpointId)?.length ?? 0;
  }

  /** Takes one of the endpoint's out: whoever has it gives it back. */
  use(endpointId: string): Leave {
    const leave = this.held.get(endpointId)?.pop();
    if (!leave) throw new Error('More was claimed for an endpoint than it was given');
    return leave;
  }

  /** Gives back what was not used. */
  release(): void {
    for (const leave of [...this.held.values()].flat()) leave();
    this.held.clear();
  }
}

/** How many tries may be under way from this process, by organization, tenant and in all. */
@Injectable()
export class Sockets {
  private readonly places = new Places(SOCKETS_AT_ONCE, () => new Error('no socket is free'));
  /** Whether the last look left somebody without one. */
  isShort = false;

  constructor(private readonly tenants: Tenants) {}

  /** Gives one by one to each, the first first, so that no endpoint waits for what others have besides. */
  share(waiting: readonly WaitingEndpoint[]): GivenSockets {
    const given = new GivenSockets();
    const wanting = waiting.map(({ organization_id: organizationId, id, free }) => ({
      id,
      free,
      owner: { organizationId, organization: { tenant_id: this.tenants.of(organizationId) } },
    }));
    const most = Math.max(0, ...new Set(waiting.map(({ free }) => free)));
    this.isShort = false;
    for (let turn = 0; turn < most; turn += 1) {
      for (const { id, free, owner } of wanting) {
        if (turn >= free) continue;
        if (this.places.full(owner)) this.isShort = true;
        else given.add(id, this.places.take(owner));
      }
    }
    return given;
  }
}
