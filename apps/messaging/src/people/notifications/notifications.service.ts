import { Injectable } from '@nestjs/common';
import { Clock, Database, pageOf, type Transaction } from '@customer-platform/database';
import type { ListDefinition, ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ContactsRepository } from '../contacts/contacts.repository.js';
import { NOTIFICATION_LIFE_MS } from './notification-life.js';
import { NotificationReads } from './notification-reads.js';

/** `GET /v1/messaging/members/me/notifications` (messaging.md §11). */
export const NOTIFICATIONS_LIST: ListDefinition = {
  resource: 'messaging.members.notifications',
  filters: { read: { type: 'boolean', column: 'read' } },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
};

/** A message of the inbox. */
interface NotificationRow {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly url: string | null;
  readonly topic: string | null;
  readonly read: boolean;
  readonly created_at: Date;
}

const OWN = 'organization_id = $1 AND contact_id = ANY($2::uuid[]) AND created_at > $3';
const SELECT = `
  SELECT id, title, body, url, topic, created_at <= coalesce($4::timestamptz, '-infinity') AS read, created_at
    FROM notifications WHERE ${OWN}`;
const UNREAD = `
  SELECT count(*)::int AS count FROM notifications
   WHERE ${OWN} AND created_at > coalesce($4::timestamptz, '-infinity')`;

/** What a member finds in the inbox, for 90 days; of a merged contact, what came to each. */
@Injectable()
export class NotificationsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly reads: NotificationReads,
    private readonly clock: Clock,
  ) {}

  async list(context: RequestContext, query: ListQuery): Promise<Page<NotificationRow> & { unread: number }> {
    return this.database.inOrganization(context, async (tx) => {
      const parameters = await this.parameters(tx, context.principal.id);
      const page = await pageOf<NotificationRow>(tx, SELECT, query, { parameters });
      const [unread] = await tx.query<{ count: number }>(UNREAD, parameters);
      return { ...page, unread: unread?.count ?? 0 };
    });
  }

  private async parameters(tx: Transaction, contactId: string): Promise<unknown[]> {
    return [
      tx.organizationId,
      await this.contacts.family(tx, contactId),
      new Date(this.clock.now().getTime() - NOTIFICATION_LIFE_MS),
      await this.reads.until(tx, contactId),
    ];
  }
}
