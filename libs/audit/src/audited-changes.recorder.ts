import { Injectable } from '@nestjs/common';
import {
  ChangeRecorder,
  type ChangeVerb,
  type RecordedChange,
  type Transaction,
} from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import type { RequestContext } from '@customer-platform/http';
import { Audit } from './audit.js';

const ACTIONS: Record<ChangeVerb, string> = {
  created: 'create',
  updated: 'update',
  deleted: 'delete',
  restored: 'restore',
  purged: 'purge',
};

/** What a `ResourceStore` records of each change: an audit row and the resource's domain event. */
@Injectable()
export class AuditedChanges extends ChangeRecorder {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
  ) {
    super();
  }

  /** Both in the transaction of the change. */
  async record(tx: Transaction, context: RequestContext, change: RecordedChange): Promise<void> {
    const [, type = change.resource] = change.resource.split('.');
    await this.audit.record(tx, context, {
      action: `${change.resource}.${ACTIONS[change.verb]}`,
      resource: { type, id: change.id },
      changedFields: change.changedFields,
      ...(change.reason === undefined ? {} : { reason: change.reason }),
    });
    if (!change.event) return;
    const {
      type: eventType,
      key,
      subject,
      data,
      time,
      organizationId = context.organizationId,
    } = change.event;
    // The outbox refuses data that does not fit the type's schema, so the pair is checked where it is written.
    await this.outbox.append(tx, {
      type: eventType,
      key,
      subject,
      data,
      ...(time === undefined ? {} : { time }),
      organizationId,
      correlationId: context.correlationId,
    } as NewDomainEvent);
  }
}
