import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import type { Transaction } from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import { SegmentFollower } from '../../following/segment-follower.js';
import type { Contact } from '../contacts/contact.entity.js';
import { contactEvent } from '../../vocabulary/contacts/shared-contact.js';

/** A merge or its undo, with both contacts as they are after it. */
interface AnnouncedMerge {
  readonly mergeId: string;
  readonly together: boolean;
  readonly survivor: Contact;
  readonly merged: Contact;
  /** The version under which the merge itself is told of the merged contact. */
  readonly mergedVersion: number;
  /** Fields of the survivor that have another value now. */
  readonly changedFields: readonly string[];
  readonly reason: string | null;
}

/** The one place from which a merge and its undo are told: to the audit log, to other modules, and within core. */
@Injectable()
export class MergeAnnouncements {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly segments: SegmentFollower,
  ) {}

  async tell(tx: Transaction, context: AuditContext, merge: AnnouncedMerge): Promise<void> {
    const { survivor, merged, together, changedFields } = merge;
    const action = together ? 'core.contacts.merge' : 'core.contacts.unmerge';
    for (const [{ id }, fields] of [
      [survivor, changedFields.map((name) => (name.startsWith('attributes.') ? 'attributes' : name))],
      [merged, ['merged_into']],
    ] as const) {
      await this.audit.record(tx, context, {
        action,
        resource: { type: 'contacts', id },
        changedFields: [...new Set(fields)],
        ...(merge.reason === null ? {} : { reason: merge.reason }),
      });
    }
    await this.outbox.append(tx, this.eventsOf(context, merge));
    const { correlationId } = context;
    await this.segments.contactsMerged(tx, {
      survivorId: survivor.id,
      mergedId: merged.id,
      together,
      correlationId,
    });
  }

  /** First what the survivor is now, so that whoever is led to it by the merge finds it so. */
  private eventsOf(context: AuditContext, merge: AnnouncedMerge): NewDomainEvent[] {
    const { survivor, merged, together, mergedVersion, changedFields } = merge;
    const { organizationId, correlationId } = context;
    const updated = (contact: Contact, fields: readonly string[]): NewDomainEvent => ({
      ...contactEvent('core.contact.updated.v1', contact, fields),
      organizationId,
      correlationId,
    });
    return [
      ...(changedFields.length > 0 ? [updated(survivor, changedFields)] : []),
      {
        type: together ? 'core.contact.merged.v1' : 'core.contact.unmerged.v1',
        organizationId,
        key: survivor.id,
        subject: `contacts/${survivor.id}`,
        correlationId,
        data: {
          merge_id: merge.mergeId,
          survivor_id: survivor.id,
          merged_id: merged.id,
          survivor_version: survivor.version,
          merged_version: mergedVersion,
        },
      },
      // Whoever heard of the contact for the first time by its merge has no profile of it yet.
      ...(together ? [] : [updated(merged, [])]),
    ];
  }
}
