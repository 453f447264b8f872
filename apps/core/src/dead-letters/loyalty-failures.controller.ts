import { Controller } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { Inbox, OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { StoredEventLetters } from './stored-event-letters.js';

type LoyaltyFailure = DomainEvent<'loyalty.evaluation.failed.v1'>;

/** Keeps the events to which loyalty could not apply its rules as dead letters of the stage `loyalty`. */
@Controller()
export class LoyaltyFailuresController {
  constructor(
    private readonly database: Database,
    private readonly inbox: Inbox,
    private readonly letters: StoredEventLetters,
  ) {}

  @OnEvent('loyalty.evaluation.failed.v1')
  async keep(events: LoyaltyFailure[]): Promise<void> {
    const byOrganization = Map.groupBy(events, ({ organizationid }) => organizationid);
    for (const [organizationId, failures] of byOrganization) {
      await this.database.inOrganization({ organizationId }, async (tx) => {
        const ids = failures.map(({ id }) => id);
        const fresh = await this.inbox.claim(tx, 'core.dead-letters', ids);
        for (const { id, data } of failures) {
          if (!fresh.has(id)) continue;
          const { event_id: eventId, code, attempts } = data;
          const detail = 'The loyalty rules could not be applied to the event.';
          await this.letters.keep(tx, { eventId, stage: 'loyalty', code, detail, attempts });
        }
      });
    }
  }
}
