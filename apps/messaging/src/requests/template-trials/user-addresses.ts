import { Injectable } from '@nestjs/common';
import { InternalClient } from '@customer-platform/authorization';

const TIMEOUT_MS = 2_000;

/** Asks identity where a user of an organization is written to. Never called within a transaction. */
@Injectable()
export class UserAddresses {
  constructor(private readonly identity: InternalClient) {}

  /** @returns null of whoever is no member, or no longer. @throws Problem `dependency_unavailable` */
  async find(organizationId: string, userId: string): Promise<string | null> {
    const answer = await this.identity.callOptional<{ address: string | null }>('identity', {
      method: 'POST',
      path: '/internal/memberships/address',
      body: { organization_id: organizationId, user_id: userId },
      timeoutMs: TIMEOUT_MS,
    });
    return answer?.address ?? null;
  }
}
