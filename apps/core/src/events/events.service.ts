import { Injectable } from '@nestjs/common';
import { Database, pageOf } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ContactLookup } from '../contacts/contact-lookup.js';
import { toEventDto, type EventDto, type EventRow } from './event.dto.js';

const EVENTS = `
  SELECT id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload, warnings,
         source, created_at
    FROM events WHERE organization_id = $1`;

/** The stored events of an organization. */
@Injectable()
export class EventsService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
  ) {}

  /** One page; every order and filter of the list has an index that leads with it. */
  async list(context: RequestContext, query: ListQuery): Promise<Page<EventDto>> {
    const { organizationId } = context;
    return this.database.inOrganization(context, async (tx) => {
      const resolved = await this.lookup.resolveFilters(tx, organizationId, query);
      return pageOf<EventRow, EventDto>(tx, EVENTS, resolved, {
        parameters: [organizationId],
        map: toEventDto,
      });
    });
  }
}
