import { Injectable } from '@nestjs/common';
import type { TimelineSource } from '@customer-platform/authorization';
import { Database, type OrganizationScope } from '@customer-platform/database';
import {
  listOfPart,
  TIMELINE_START,
  type AskedPart,
  type AskedTimeline,
  type TimelinePart,
} from '@customer-platform/http';
import { SENDS_LIST } from './send.dto.js';
import { SendsService } from './sends.service.js';
import { SEND_COLUMNS, toSendDto, type SendRow } from './to-send-dto.js';

/** Along the index of a contact's sends. */
const NEWEST = `
  SELECT ${SEND_COLUMNS} FROM sends
   WHERE organization_id = $1 AND contact_id = $2 AND (created_at, id) < ($3::timestamptz, $4::uuid)
   ORDER BY created_at DESC, id DESC LIMIT $5`;

/** Itself where it was merged, and whoever was merged into it. */
const RELATED = `
  SELECT id FROM contacts WHERE organization_id = $1 AND id = $2 AND state = 'merged'
   UNION ALL
  SELECT id FROM contacts WHERE organization_id = $1 AND merged_into = $2`;

/** Messaging's part of a timeline: what was sent to a contact. Where a merge has to do with it the list is read. */
@Injectable()
export class SendsTimeline implements TimelineSource {
  readonly path = '/v1/messaging/sends';
  readonly permissions = { send: 'messaging.sends.read' } as const;

  constructor(
    private readonly database: Database,
    private readonly sends: SendsService,
  ) {}

  async read(where: OrganizationScope, asked: AskedTimeline): Promise<Record<string, TimelinePart>> {
    const { send } = asked.parts;
    return send ? { send: await this.newest(where, asked, send) } : {};
  }

  private async newest(
    where: OrganizationScope,
    asked: AskedTimeline,
    part: AskedPart,
  ): Promise<TimelinePart> {
    const { contactId, limit } = asked;
    const { occurredAt, id } = part.after ?? TIMELINE_START;
    const [related, rows] = await this.database.atOnce(
      where,
      (tx) =>
        [
          tx.prepared<{ id: string }>(RELATED, [tx.organizationId, contactId]),
          tx.prepared<SendRow>(NEWEST, [tx.organizationId, contactId, occurredAt, id, limit + 1]),
        ] as const,
      { byKeys: true },
    );
    if (related.length > 0) {
      const { data, page } = await this.sends.list(where, listOfPart(asked, part, SENDS_LIST));
      return { status: 200, items: data, more: page.next_cursor !== null };
    }
    return { status: 200, items: rows.slice(0, limit).map(toSendDto), more: rows.length > limit };
  }
}
