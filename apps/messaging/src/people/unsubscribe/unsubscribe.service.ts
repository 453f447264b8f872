import { Injectable } from '@nestjs/common';
import { systemActor, type AuditContext } from '@customer-platform/audit';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { ChannelPlans } from '../../settings/channels/channel-plans.js';
import { GateWriter } from '../gate-lock/gate-writer.js';
import { PreferenceJournal } from '../preferences/preference-journal.js';
import type { SignedLink } from './signed-link.strategy.js';
import type { Subscription } from './unsubscribe-links.js';

/** What a link is about, as its page names it. */
export interface ShownSubscription extends Subscription {
  /** Null: all marketing; the key where the topic has left the settings. */
  readonly topicName: string | null;
}

const END = `
  INSERT INTO preferences AS p (organization_id, subject, channel, topic, subscribed, updated_at)
  VALUES ($1, $2, $3, $4, false, $5)
  ON CONFLICT (organization_id, subject, channel, topic) DO UPDATE SET subscribed = false, updated_at = excluded.updated_at
   WHERE p.subscribed
  RETURNING 1`;

/** Whose address it is: the link knows its key alone, the newest send to it knows the contact. */
const OWNER = `
  SELECT contact_id FROM sends
   WHERE organization_id = $1 AND address_key = $2 AND contact_id IS NOT NULL
   ORDER BY created_at DESC LIMIT 1`;

/** Ends subscriptions by their signed links (messaging.md §11). */
@Injectable()
export class UnsubscribeService {
  constructor(
    private readonly database: Database,
    private readonly gate: GateWriter,
    private readonly plans: ChannelPlans,
    private readonly journal: PreferenceJournal,
    private readonly clock: Clock,
  ) {}

  /** What a link would end; changes nothing. @throws Problem `invalid_signature` */
  async show(link: SignedLink): Promise<ShownSubscription> {
    const subscription = subscriptionOf(link);
    const { organizationId, topic } = subscription;
    if (topic === null) return { ...subscription, topicName: null };
    const { topics } = await this.database.inOrganization({ organizationId }, (tx) => this.plans.of(tx));
    return { ...subscription, topicName: topics.find(({ key }) => key === topic)?.name ?? topic };
  }

  /**
   * Ends the topic, or all marketing of the channel, for the address. When this returns, no hand-off that it stops
   * begins any more; a repeat changes nothing.
   * @throws Problem `invalid_signature`
   */
  async end(link: SignedLink, correlationId: string): Promise<Subscription> {
    const subscription = subscriptionOf(link);
    const { organizationId, addressKey, channel, topic } = subscription;
    await this.gate.write({ organizationId }, [addressKey], async (tx) => {
      const now = this.clock.now();
      const ended = await tx.query(END, [organizationId, addressKey, channel, topic ?? '', now]);
      if (ended.length === 0) return;
      const contactId = await ownerOf(tx, addressKey);
      await this.journal.record(tx, actorOf(organizationId, correlationId, contactId), contactId, [
        { channel, topic, subscribed: false },
      ]);
    });
    return subscription;
  }
}

function subscriptionOf({ subscription }: SignedLink): Subscription {
  if (!subscription) throw new Problem('invalid_signature');
  return subscription;
}

async function ownerOf(tx: Transaction, addressKey: string): Promise<string | null> {
  const [row] = await tx.query<{ contact_id: string }>(OWNER, [tx.organizationId, addressKey]);
  return row?.contact_id ?? null;
}

/** The link is the person's own. */
function actorOf(organizationId: string, correlationId: string, contactId: string | null): AuditContext {
  if (contactId === null) return systemActor(organizationId, correlationId, 'messaging.unsubscribe');
  return { organizationId, correlationId, actor: { type: 'member', id: contactId } };
}
