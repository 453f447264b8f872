import { isTransient, type Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import type { HandOff, OutgoingMessage } from '../../../providers/transport-config.js';
import type { Lease, Transport } from '../transport.js';

const ADD = `
  INSERT INTO notifications (organization_id, id, contact_id, title, body, url, topic, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
  ON CONFLICT (organization_id, id) DO NOTHING`;

/** As many as may hold a connection of the database at once. */
const CAPACITY = 20;

/** The parts of a message that an inbox shows. */
interface Shown {
  readonly title: string;
  readonly body: string;
  readonly url?: string;
  readonly topic?: string | null;
}

/**
 * The member's inbox: a row under the send's id, so that an attempt whose outcome was lost leaves none behind twice.
 * `copy` shows the same message where local mode shows those of all channels.
 */
export class InboxTransport implements Transport {
  readonly provider = 'inbox';

  constructor(
    private readonly database: Database,
    private readonly copy: Transport | undefined,
  ) {}

  capacity(): number {
    return CAPACITY;
  }

  async handOff(message: OutgoingMessage, lease: Lease): Promise<HandOff> {
    if (lease.over) return { outcome: 'released' };
    const { organizationId, sendId, to } = message;
    const { title, body, url, topic } = JSON.parse(message.content.toString('utf8')) as Shown;
    try {
      await this.database.inOrganization({ organizationId }, (tx) =>
        tx.query(ADD, [organizationId, sendId, to, title, body, url ?? null, topic ?? null]),
      );
    } catch (error) {
      const again = isTransient(error);
      log.warn({ err: error, again }, 'A notification could not be stored');
      // What the database does not take for what it is, it takes at no other time.
      return { outcome: again ? 'deferred' : 'bounced' };
    }
    // The row is the message: whether its copy is shown changes nothing.
    await this.copy?.handOff(message, lease);
    return { outcome: 'sent' };
  }

  async close(): Promise<void> {
    await this.copy?.close();
  }
}
