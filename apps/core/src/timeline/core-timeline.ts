import { Injectable } from '@nestjs/common';
import type { TimelineSource } from '@customer-platform/authorization';
import { Database, gapOf, type OrganizationScope, type Promises } from '@customer-platform/database';
import { listOfPart, newestOfParts, type AskedTimeline, type TimelinePart } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ConsentEventRow } from '../vocabulary/consents/consent.js';
import { CONSENT_LIST, toConsentDto } from '../people/consents/consent.dto.js';
import { ConsentsRepository } from '../people/consents/consents.repository.js';
import { ConsentsService } from '../people/consents/consents.service.js';
import { ContactLookup, type Standing } from '../people/contacts/contact-lookup.js';
import { stateOf } from '../vocabulary/contacts/shared-contact.js';
import { EVENT_LIST, toEventDto, type EventRow } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';

/** The answers of one read: the contact's state with those of all merged into it, and its rows. */
type Read = readonly [Standing[], EventRow[], { until: Date } | undefined, ConsentEventRow[]];

const nothing = (): Promise<never[]> => Promise.resolve([]);

/**
 * Core's parts of a timeline: the events and the consent history of a contact, read at once. What its lists do besides for
 * merged contacts they do here too: they are asked.
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
    private readonly consents: ConsentsService,
  ) {}

  async read(where: OrganizationScope, asked: AskedTimeline): Promise<Record<string, TimelinePart>> {
    const [family, events, gap, said] = await this.newest(where, asked);
    const { event, consent } = asked.parts;
    const own = family[0];
    const isMerged = own !== undefined && own.mergedInto !== null;
    const eventsAreElsewhere = event !== undefined && events.length === 0 && isMerged;
    const saidElsewhere = consent !== undefined && !isMerged && family.length > 1;
    if (eventsAreElsewhere || saidElsewhere) return this.byLists(where, asked);
    const isThere = own !== undefined && stateOf(own) !== 'erased';
    const shownConsents = consent !== undefined && isThere && !isMerged ? said : [];
    const [eventCount = 0, consentCount = 0] = newestOfParts<EventRow | ConsentEventRow>(
      [events, shownConsents],
      ({ occurred_at: time }) => time.getTime(),
      asked.limit,
    );
    const parts: Record<string, TimelinePart> = {};
    if (event) {
      parts['event'] = {
        status: 200,
        items: events.slice(0, eventCount).map(toEventDto),
        more: events.length > eventCount,
        removedUntil: gap?.until.toISOString(),
      };
    }
    if (consent && !isThere) parts['consent'] = { status: 404 };
    else if (consent && isMerged) parts['consent'] = { status: 307 };
    else if (consent) {
      const items = said.slice(0, consentCount).map(toConsentDto);
      parts['consent'] = { status: 200, items, more: said.length > consentCount };
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

  private async byLists(
    where: OrganizationScope,
    asked: AskedTimeline,
  ): Promise<Record<string, TimelinePart>> {
    const { event, consent } = asked.parts;
    const parts: Record<string, TimelinePart> = {};
    if (event) {
      const { data, page, gap } = await this.events.list(where, listOfPart(asked, event, EVENT_LIST));
      parts['event'] = {
        status: 200,
        items: data,
        more: page.next_cursor !== null,
        removedUntil: gap?.until,
      };
    }
    if (consent) parts['consent'] = await this.consentsByList(where, asked);
    return parts;
  }

  private async consentsByList(where: OrganizationScope, asked: AskedTimeline): Promise<TimelinePart> {
    const { consent = { fields: [] } } = asked.parts;
    const { filters: _, ...query } = listOfPart(asked, consent, CONSENT_LIST);
    try {
      const answer = await this.consents.list(where, asked.contactId, {
        ...query,
        filters: [],
        parameters: { view: 'history' },
      });
      if (!('page' in answer)) return { status: 307 };
      const { data, page } = answer.page;
      return { status: 200, items: data, more: page.next_cursor !== null };
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return { status: 404 };
      throw error;
    }
  }
}
