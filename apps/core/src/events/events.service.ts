import { Injectable } from '@nestjs/common';
import {
  Database,
  gapOf,
  pageOf,
  type OrganizationScope,
  type Transaction,
} from '@customer-platform/database';
import {
  TIMELINE_START,
  type ListFilter,
  type ListQuery,
  type Page,
  type TimelinePosition,
} from '@customer-platform/http';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import { externalIdsInEveryForm } from '../vocabulary/identities/form-filters.js';
import { eventIdOf } from '../vocabulary/events/event-id.js';
import {
  toEventDto,
  type EventDto,
  type EventPageDto,
  type EventRow,
  type RetentionGapDto,
} from './event.dto.js';

const EVENTS = `
  SELECT id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload, warnings,
         source, created_at
    FROM events WHERE organization_id = $1`;

/** Along the index of a contact's events. */
const NEWEST = `${EVENTS} AND contact_id = $2 AND (occurred_at, id) < ($3::timestamptz, $4::uuid)
   ORDER BY occurred_at DESC, id DESC LIMIT $5`;

/** The stored events of an organization. */
@Injectable()
export class EventsService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
  ) {}

  /** One page; every order and filter of the list has an index that leads with it. */
  async list(context: OrganizationScope, given: ListQuery): Promise<EventPageDto> {
    const query = byIds(given, context.organizationId);
    return this.database.inOrganization(context, async (tx) => {
      const { data, page } = await this.page(tx, query);
      // Looked at afterwards: what a piece takes away between the two is said to be gone.
      return { data, page, gap: await gapIn(tx, query) };
    });
  }

  /** The newest events that stand under a contact's id after a position, at most so many. */
  newest(
    tx: Transaction,
    contactId: string,
    after: TimelinePosition | undefined,
    most: number,
  ): Promise<EventRow[]> {
    const { occurredAt, id } = after ?? TIMELINE_START;
    return tx.prepared<EventRow>(NEWEST, [tx.organizationId, contactId, occurredAt, id, most]);
  }

  private async page(tx: Transaction, query: ListQuery): Promise<Page<EventDto>> {
    if (!isOfOneContact(query)) return pageOfEvents(tx, await this.resolved(tx, query));
    // A merge gives a contact's events to its survivor: an id that events stand under needs no looking up.
    const own = await pageOfEvents(tx, query);
    if (own.data.length > 0) return own;
    const resolved = await this.resolved(tx, query);
    return resolved === query ? own : pageOfEvents(tx, resolved);
  }

  private resolved(tx: Transaction, query: ListQuery): Promise<ListQuery> {
    return this.lookup.resolveFilters(tx, tx.organizationId, query);
  }
}

/**
 * An idempotency key is sought by the id that is made of it: it has no index of its own. An external id is sought in all
 * its writings.
 */
function byIds(query: ListQuery, organizationId: string): ListQuery {
  const filters = externalIdsInEveryForm(query.filters).map((filter): ListFilter => {
    if (filter.field !== 'idempotency_key' || (filter.op !== 'eq' && filter.op !== 'in')) return filter;
    const [value = '', ...others] = filter.values.map((key) => eventIdOf(organizationId, String(key)));
    return { ...filter, type: 'uuid', column: 'id', value, values: [value, ...others] };
  });
  return { ...query, filters };
}

function pageOfEvents(tx: Transaction, query: ListQuery): Promise<Page<EventDto>> {
  return pageOf<EventRow, EventDto>(tx, EVENTS, query, { parameters: [tx.organizationId], map: toEventDto });
}

function isOfOneContact({ filters }: ListQuery): boolean {
  const [filter, ...others] = filters.filter(({ field }) => field === 'contact_id');
  return filter?.op === 'eq' && others.length === 0;
}

/** What retention has removed, unless all that is asked for happened later. */
async function gapIn(tx: Transaction, { filters }: ListQuery): Promise<RetentionGapDto | null> {
  const gap = await gapOf(tx, 'events');
  if (!gap) return null;
  const until = gap.until.toISOString();
  return filters.some((filter) => liesBehind(filter, until)) ? null : { reason: gap.reason, until };
}

function liesBehind({ field, op, value }: ListFilter, until: string): boolean {
  if (field !== 'occurred_at') return false;
  const from = new Date(String(value)).toISOString();
  return op === 'gt' ? from >= until : (op === 'gte' || op === 'eq') && from > until;
}
