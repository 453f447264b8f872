import { Injectable } from '@nestjs/common';
import { InternalClient } from '@customer-platform/authorization';
import type { LinkRef } from '../../vocabulary/sends/link-ref.js';

/** What identity answers: for the moment in which the mail is written. The link is kept nowhere. */
export interface IdentityLink {
  readonly address: string;
  /** Null where nothing is to be done on a page: whose password, if any, opens nothing. */
  readonly link: string | null;
  readonly organization_name: string;
  /** Whose suppressions are the platform's own: the root's. An identity before this release does not say it. */
  readonly platform_organization_id?: string;
  /** The organization below the root, with whose mail it is counted. An identity before this release does not say it. */
  readonly tenant_id?: string;
  /** Where the event does not say it. */
  readonly locale?: string | null;
  /** Until when the link works, where the event does not say it. */
  readonly expires_at?: string;
  /** Instead of a link: that the person signs in through their organization and has no password here. */
  readonly notice?: 'single_sign_on';
  /** What it is sent for, where nobody asked: that somebody has tried wrong passwords. */
  readonly about?: 'wrong_passwords';
}

const TIMEOUT_MS = 500;

/** Asks identity for address and link of a mail (messaging.md §3). Never called within a transaction. */
@Injectable()
export class IdentityLinks {
  constructor(private readonly identity: InternalClient) {}

  /**
   * @returns undefined for what is no longer open: an invitation accepted, withdrawn, expired, a user who is deleted
   * @throws Problem `dependency_unavailable` when identity is silent
   */
  find(
    organizationId: string,
    { kind, id }: Pick<LinkRef, 'kind' | 'id'>,
  ): Promise<IdentityLink | undefined> {
    return this.identity.callOptional<IdentityLink>('identity', {
      method: 'GET',
      path: `/internal/links/${kind}/${id}?organization_id=${organizationId}`,
      timeoutMs: TIMEOUT_MS,
      // Apart from the registry's questions: a hundred invitations at once keep no request waiting.
      lane: 'links',
    });
  }
}
