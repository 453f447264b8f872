import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import type { Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { Objection } from './preference-document.js';

/** One thing a person decided. */
export interface PreferenceChange {
  readonly channel: Channel;
  /** Null: all marketing of the channel. */
  readonly topic: string | null;
  readonly subscribed: boolean;
}

/** Objections of a person that staff has lifted, and why. */
interface LiftedObjections {
  readonly objections: readonly Objection[];
  readonly reason: string | null;
}

const NOTHING_LIFTED: LiftedObjections = { objections: [], reason: null };

/** Tells what people have decided: who did it in the audit log, what it means in an event. No address in either. */
@Injectable()
export class PreferenceJournal {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
  ) {}

  /** Of an address that belongs to no contact known here there is nobody to tell of, only the audit row. */
  async record(
    tx: Transaction,
    context: AuditContext,
    contactId: string | null,
    changes: readonly PreferenceChange[],
    lifting: LiftedObjections = NOTHING_LIFTED,
  ): Promise<void> {
    const changed = [...new Set([...changes, ...lifting.objections].map(fieldOf))];
    if (changed.length === 0) return;
    await this.audit.record(tx, context, {
      action: 'messaging.preferences.update',
      resource: { type: 'preferences', id: contactId ?? context.organizationId },
      changedFields: changed,
      ...(lifting.reason === null ? {} : { reason: lifting.reason }),
    });
    if (contactId === null || changes.length === 0) return;
    await this.outbox.append(
      tx,
      changes.map((change) => ({
        type: 'messaging.preference.changed.v1' as const,
        organizationId: context.organizationId,
        key: contactId,
        subject: `contacts/${contactId}`,
        correlationId: context.correlationId,
        data: { contact_id: contactId, ...change },
      })),
    );
  }
}

function fieldOf({ channel, topic }: Pick<Objection, 'channel' | 'topic'>): string {
  return topic === null ? `channels.${channel}.marketing` : `channels.${channel}.topics.${topic}`;
}
