import { Injectable } from '@nestjs/common';
import { AuthorizationSource } from '@customer-platform/authorization';
import { refused, type Arrival } from './work-item.js';

/** How many acceptances one question may hold. */
const QUESTION_LIMIT = 1_000;

/** What an unconfirmed event needed of its key. */
const PERMISSIONS = { track: 'core.events.write', identify: 'core.contacts.write' } as const;

/**
 * Asks the registry about events that were accepted while it was away (contract.md §5): one whose key was not valid
 * then, or might not send it, becomes a dead letter that is born closed.
 */
@Injectable()
export class Confirmation {
  constructor(private readonly registry: AuthorizationSource) {}

  /** @throws RegistryUnavailable while the registry is away: nothing unconfirmed may be stored */
  async confirm(arrivals: readonly Arrival[]): Promise<Arrival[]> {
    const unconfirmed = arrivals.filter(({ unconfirmedKey }) => unconfirmedKey !== undefined);
    if (unconfirmed.length === 0) return [...arrivals];
    const revoked = new Set<Arrival>();
    for (let at = 0; at < unconfirmed.length; at += QUESTION_LIMIT) {
      const asked = unconfirmed.slice(at, at + QUESTION_LIMIT);
      const verdicts = await this.registry.confirm(asked.map(acceptanceOf));
      asked.forEach((arrival, index) => {
        if (verdicts[index] !== true) revoked.add(arrival);
      });
    }
    return arrivals.map((arrival) => (revoked.has(arrival) ? refused(arrival) : arrival));
  }
}

function acceptanceOf({ unconfirmedKey = '', receivedAt, kind }: Arrival) {
  return { key_hash: unconfirmedKey, accepted_at: receivedAt, permission: PERMISSIONS[kind] };
}
