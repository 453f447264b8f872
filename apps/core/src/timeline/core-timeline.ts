import { Injectable } from '@nestjs/common';
import type { TimelineSource } from '@customer-platform/authorization';
import { Database, gapOf, type OrganizationScope, type Promises } from '@customer-platform/database';
import {
  listOfPart,
  newestOfParts,
  type AskedPart,
  type AskedTimeline,
  type TimelinePart,
} from '@customer-platform/http';
import type { ConsentEventRow } from '../vocabulary/consents/consent.js';
import { CONSENT_LIST, toConsentDto } from '../people/consents/consent.dto.js';
import { ConsentsRepository } from '../people/consents/consents.repository.js';
import { ContactLookup, type Standing } from '../people/contacts/contact-lookup.js';
import { stateOf } from '../vocabulary/contacts/shared-contact.js';
import { EVENT_LIST, toEventDto, type EventRow } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';

/** The answers of one read: the contact's state with those of all merged into it, and its rows. */
type Read = readonly [Standing[], EventRow[], { until: Date } | undefined, ConsentEventRow[]];

/** Reads what a contact has said, newest first. */
interface Said {
  readonly rows: readonly ConsentEventRow[];
  /** There is more than these. */
  readonly more: boolean;
}

const nothing = (): Promise<never[]> => Promise.resolve([]);

/**
 * Core's parts of a timeline: the events and the consent history of a contact, read at once. Where a merge has put one of
 * them under other ids, that one is read there, as its list does.
 */
@Injectable()
export class CoreTimeline implements TimelineSource {
  readonly path = '/v1/core/events';
  readonly permissions = { event: 'core.events.read', consent: 'core.consents.read' } as const;

  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
    private readonly events: EventsService,
    private readonly history: ConsentsRepository,
  ) {}

  async read(where: OrganizationScope, asked: AskedTimeline): Promise<Record<string, TimelinePart>> {
    const [family, events, gap, ownSaid] = await this.newest(where, asked);
    const { event, consent } = asked.parts;
    const own = family[0];
    const isMerged = own !== undefined && own.mergedInto !== null;
    const status = own === undefined || stateOf(own) === 'erased' ? 404 : isMerged ? 307 : 200;
    const said =
      consent && status === 200 && family.length > 1
        ? await this.saidInFamily(where, asked, consent, family)
        : { rows: status === 200 ? ownSaid : [], more: false };
    const [eventCount = 0, consentCount = 0] = newestOfParts<EventRow | ConsentEventRow>(
      [events, said.rows],
      ({ occurred_at: time }) => time.getTime(),
      asked.limit,
    );
    const parts: Record<string, TimelinePart> = {};
    if (event && isMerged && events.length === 0) {
      parts['event'] = await this.eventsByList(where, asked, event);
    } else if (event) {
      parts['event'] = {
        status: 200,
        items: events.slice(0, eventCount).map(toEventDto),
        more: events.length > eventCount,
        removedUntil: gap?.until.toISOString(),
      };
    }
    if (consent && status !== 200) parts['consent'] = { status };
    else if (consent) {
      const items = said.rows.slice(0, consentCount).map(toConsentDto);
      parts['consent'] = { status: 200, items, more: said.more || said.rows.length > consentCount };
    }
    return parts;
  }

  private newest(where: OrganizationScope, { contactId, limit, parts }: AskedTimeline): Promise<Read> {
    const { event, consent } = parts;
    return this.database.atOnce<Read>(
      where,
      (tx): Promises<Read> => [
        this.lookup.standingFamily(tx, contactId),
        event ? this.events.newest(tx, contactId, event.after, limit + 1) : nothing(),
        event ? gapOf(tx, 'events') : Promise.resolve(undefined),
        consent ? this.history.newest(tx, contactId, consent.after, limit + 1) : nothing(),
      ],
      { byKeys: true },
    );
  }

  /** A merge gives a contact's events to its survivor, which the list looks up. */
  private async eventsByList(
    where: OrganizationScope,
    asked: AskedTimeline,
    part: AskedPart,
  ): Promise<TimelinePart> {
    const { data, page, gap } = await this.events.list(where, listOfPart(asked, part, EVENT_LIST));
    return { status: 200, items: data, more: page.next_cursor !== null, removedUntil: gap?.until };
  }

  /** A merge leaves what was said under the id under which it was said. */
  private async saidInFamily(
    where: OrganizationScope,
    asked: AskedTimeline,
    part: AskedPart,
    family: readonly Standing[],
  ): Promise<Said> {
    const ids = family.map(({ id }) => id);
    const query = { ...listOfPart(asked, part, CONSENT_LIST), filters: [] };
    const { data, page } = await this.database.inOrganization(where, (tx) =>
      this.history.history(tx, ids, query, null),
    );
    return { rows: data, more: page.next_cursor !== null };
  }
}
