import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Database, pageOf, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactLookup } from '../contacts/contact-lookup.js';
import {
  LETTER_COLUMNS,
  toDeadLetterDto,
  type DeadLetterDto,
  type DeadLetterRow,
} from './dead-letter.dto.js';
import { ReplaySignal } from './replay.signal.js';

const LETTERS = `SELECT ${LETTER_COLUMNS} FROM dead_letters WHERE organization_id = $1`;

const LOCK = `${LETTERS} AND id = $2 FOR UPDATE`;

const QUEUE = `
  UPDATE dead_letters SET state = 'replaying', updated_at = now()
   WHERE organization_id = $1 AND id = $2 RETURNING ${LETTER_COLUMNS}`;

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
      const resolved = await this.lookup.resolveToFamilies(tx, query);
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
