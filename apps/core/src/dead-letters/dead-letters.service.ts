import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Database, pageOf, type Transaction } from '@customer-platform/database';
import { parseFilters, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import { externalIdsInEveryForm } from '../vocabulary/identities/form-filters.js';
import {
  LETTER_COLUMNS,
  toDeadLetterDto,
  type BulkReplayDto,
  type DeadLetterDto,
  type DeadLetterRow,
  DEAD_LETTER_LIST,
} from './dead-letter.dto.js';
import { ReplaySignal } from './replay.signal.js';

const LETTERS = `SELECT ${LETTER_COLUMNS} FROM dead_letters WHERE organization_id = $1`;

const LOCK = `${LETTERS} AND id = $2 FOR UPDATE`;

const QUEUE = `
  UPDATE dead_letters SET state = 'replaying', updated_at = now()
   WHERE organization_id = $1 AND id = $2 RETURNING ${LETTER_COLUMNS}`;

/** At once. */
const MOST = 10_000;

const PENDING = `
  SELECT id, event_id, stage, code, external_id, contact_id, state, last_failed_at FROM dead_letters
   WHERE organization_id = $1 AND state = 'pending'`;

/**
 * In one order for all who do so, and none that another transaction has changed meanwhile (by ctid: ADR 58): a call that
 * follows finds it where it still waits.
 */
const QUEUE_ALL = `
  UPDATE dead_letters AS letter SET state = 'replaying', updated_at = now()
    FROM (SELECT ctid FROM dead_letters WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND state = 'pending'
           ORDER BY id FOR UPDATE) AS pending
   WHERE letter.organization_id = $1 AND letter.ctid = pending.ctid
  RETURNING letter.id`;

/** Those that failed first first. */
const OLDEST: Pick<ListQuery, 'limit' | 'sort' | 'visibility' | 'parameters' | 'cursorFor'> = {
  limit: MOST,
  sort: [
    { field: 'last_failed_at', column: 'last_failed_at', type: 'time', direction: 'asc' },
    { field: 'id', column: 'id', type: 'uuid', direction: 'asc' },
  ],
  visibility: 'live',
  parameters: {},
  cursorFor: () => 'more',
};

/** The events that failed, and their replay. */
@Injectable()
export class DeadLettersService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
    private readonly audit: Audit,
    private readonly signal: ReplaySignal,
  ) {}

  /** One page of dead letters, whatever their state. */
  async list(context: RequestContext, query: ListQuery): Promise<Page<DeadLetterDto>> {
    const { organizationId } = context;
    return this.database.inOrganization(context, async (tx) => {
      const filters = externalIdsInEveryForm(query.filters);
      const resolved = await this.lookup.resolveToFamilies(tx, { ...query, filters });
      return pageOf<DeadLetterRow, DeadLetterDto>(tx, LETTERS, resolved, {
        parameters: [organizationId],
        map: toDeadLetterDto,
      });
    });
  }

  /**
   * Queues the event to be run again from the stage at which it failed. Again, while it runs or after it ran, it is
   * the same answer and no second effect.
   * @throws Problem `not_found`; `not_replayable` for a letter that was born closed
   */
  async replay(context: RequestContext, id: string): Promise<DeadLetterDto> {
    return this.database.inOrganization(context, async (tx) => {
      const [letter] = await tx.query<DeadLetterRow>(LOCK, [context.organizationId, id]);
      if (!letter) throw new Problem('not_found');
      if (letter.state === 'closed') {
        throw new Problem('not_replayable', {
          detail: `The letter is closed: ${letter.closed_reason ?? ''}.`,
        });
      }
      return toDeadLetterDto(letter.state === 'pending' ? await this.queue(tx, context, letter) : letter);
    });
  }

  /**
   * Queues all pending letters that the filters of the list match, the oldest 10,000 at most. Those that are queued already,
   * or were run, are left alone: what is called again, or twice at once, has one effect.
   * @throws Problem `unknown_parameter`, `invalid_filter`, `validation_failed` without any filter
   */
  async replayAll(context: RequestContext, given: Record<string, unknown>): Promise<BulkReplayDto> {
    const filters = externalIdsInEveryForm(parseFilters(DEAD_LETTER_LIST, given, '/filter'));
    if (filters.length === 0) {
      const detail = 'At least one filter says which letters are meant.';
      throw Problem.validation([{ pointer: '/filter', code: 'required', detail }]);
    }
    const { organizationId } = context;
    return this.database.inOrganization(context, async (tx) => {
      const query = await this.lookup.resolveToFamilies(tx, { ...OLDEST, filters });
      const { data, page } = await pageOf<{ id: string }>(tx, PENDING, query, {
        parameters: [organizationId],
      });
      const queued = await tx.query(QUEUE_ALL, [organizationId, data.map(({ id }) => id)]);
      if (queued.length > 0) {
        await this.audit.record(tx, context, {
          action: 'core.jobs.replay',
          // One act of many letters, which are found by when they were changed.
          resource: { type: 'dead_letters', id: organizationId },
          changedFields: ['state'],
        });
        tx.afterCommit(() => this.signal.raise());
      }
      return { matched: queued.length, truncated: page.next_cursor !== null };
    });
  }

  private async queue(
    tx: Transaction,
    context: RequestContext,
    letter: DeadLetterRow,
  ): Promise<DeadLetterRow> {
    const { id } = letter;
    const [queued] = await tx.query<DeadLetterRow>(QUEUE, [context.organizationId, id]);
    await this.audit.record(tx, context, {
      action: 'core.jobs.replay',
      resource: { type: 'dead_letters', id },
      changedFields: ['state'],
    });
    tx.afterCommit(() => this.signal.raise());
    return queued ?? letter;
  }
}
