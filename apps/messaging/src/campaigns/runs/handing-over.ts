import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Clock, Database, newId, ReferenceHolds, type WorkerTransaction } from '@customer-platform/database';
import { checkAddress } from '../../addresses/address.js';
import { AddressKeys } from '../../addresses/address-keys.provider.js';
import { addressOf, type Contact } from '../../contacts/contact.js';
import { ContactRefresh } from '../../contacts/contact-refresh.js';
import { ContactsRepository } from '../../contacts/contacts.repository.js';
import { CAMPAIGN_LANE, type NewSend } from '../../sends/send.js';
import { SendsRepository } from '../../sends/sends.repository.js';
import type { SkipReason } from '../campaign.js';
import { AudienceDevices } from './audience-devices.js';
import { AGAIN, holds, type Next, type WorkedRun } from './worked-run.js';

/** Members of one piece: its transaction takes some tenths of a second. */
const AT_ONCE = 500;
/** Sends that wait for a dispatcher; while there are as many nothing is handed over. */
const ENOUGH_WAITING = 500;
const LOOK_AGAIN_MS = 100;

/** By the index of what is due; a million that wait for their hours are not counted. */
const WAITING = `
  SELECT count(*)::int AS count FROM (
    SELECT 1 FROM sends WHERE organization_id = $1 AND channel = $2 AND lane = ${CAMPAIGN_LANE} AND due_at <= $3
     LIMIT ${ENOUGH_WAITING}) AS waiting`;

const PENDING = `
  SELECT id, contact_id FROM campaign_members WHERE organization_id = $1 AND run_id = $2 AND state = 'pending'
   ORDER BY organization_id, run_id, id LIMIT ${AT_ONCE} FOR UPDATE`;

const TAKEN = `
  SELECT address_key FROM campaign_members
   WHERE organization_id = $1 AND run_id = $2 AND address_key = ANY($3::text[])`;

const SETTLE = `
  UPDATE campaign_members m SET state = d.state, reason = d.reason, send_id = d.send_id, address_key = d.address_key,
         contact_id = CASE WHEN d.reason = 'erased' THEN NULL ELSE m.contact_id END
    FROM jsonb_to_recordset($3::jsonb) AS d (id bigint, state text, reason text, send_id uuid, address_key text)
   WHERE m.organization_id = $1 AND m.run_id = $2 AND m.id = d.id`;

interface Member {
  readonly id: string;
  readonly contact_id: string;
}

/** What becomes of a member: a send, or a reason why there is none. */
type Verdict =
  { readonly contact: Contact; readonly address: string; readonly addressKey: string } | SkipReason;

/** A piece was looked at, or must be looked at anew once core has been asked for these. */
type Piece = { readonly done: number } | { readonly unknown: readonly string[] };

/**
 * Makes sends of the audience, some at a time and no more than the dispatchers keep up with: so a campaign of a million
 * takes no memory, and one that is paused has little on its way. Member and send change in one transaction.
 */
@Injectable()
export class HandingOver {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly refresh: ContactRefresh,
    private readonly devices: AudienceDevices,
    private readonly sends: SendsRepository,
    private readonly keys: AddressKeys,
    private readonly holdsOn: ReferenceHolds,
    private readonly clock: Clock,
  ) {}

  /** @returns when there may be more; undefined: there is none @throws Problem `dependency_unavailable` */
  async piece(run: WorkedRun): Promise<Next | undefined> {
    if (await this.isFull(run)) return { inMs: LOOK_AGAIN_MS };
    const devices = run.channel === 'push' ? await this.devicesOf(run) : undefined;
    let piece = await this.handOver(run, { asked: false, devices });
    if ('unknown' in piece) {
      await this.refresh.unknown(run.organizationId, piece.unknown);
      piece = await this.handOver(run, { asked: true, devices });
    }
    return 'done' in piece && piece.done === 0 ? undefined : AGAIN;
  }

  private isFull({ organizationId, channel }: WorkedRun): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      const [row] = await tx.query<{ count: number }>(WAITING, [organizationId, channel, this.clock.now()]);
      return (row?.count ?? 0) >= ENOUGH_WAITING;
    });
  }

  private async devicesOf({ organizationId, id }: WorkedRun): Promise<Map<string, string | null>> {
    const members = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<Member>(PENDING, [organizationId, id]),
    );
    return this.devices.of(
      organizationId,
      members.map((member) => member.contact_id),
    );
  }

  private async handOver(
    run: WorkedRun,
    { asked, devices }: { asked: boolean; devices: ReadonlyMap<string, string | null> | undefined },
  ): Promise<Piece> {
    const { organizationId } = run;
    return this.database.acrossOrganizations(async (tx): Promise<Piece> => {
      await tx.useOrganization(organizationId);
      if (!(await holds(tx, run))) return { done: 1 };
      // Before the members' rows, as an erasure takes the two.
      await this.holdsOn.share(tx, 'core.contacts', [organizationId]);
      const members = await tx.query<Member>(PENDING, [organizationId, run.id]);
      if (members.length === 0) return { done: 0 };
      const refs = members.map(({ contact_id: id }) => ({ organizationId, id }));
      const known = await this.contacts.resolve(tx, refs);
      const contactOf = (id: string): Contact | undefined => known.get(contactKey({ organizationId, id }));
      const unknown = members.map((member) => member.contact_id).filter((id) => isUnknown(contactOf(id)));
      if (unknown.length > 0 && !asked) return { unknown };
      const held = await this.heldAmong(tx, [...known.values()]);
      const verdicts = members.map((member) => {
        const contact = contactOf(member.contact_id);
        return { member, verdict: this.judge(run, contact, held, devices?.get(member.contact_id)) };
      });
      await this.settle(tx, run, await withoutRepeats(tx, run, verdicts));
      return { done: members.length };
    });
  }

  private heldAmong(tx: WorkerTransaction, contacts: readonly Contact[]): Promise<Set<string>> {
    return this.holdsOn.held(
      tx,
      'core.contacts',
      contacts.map(({ id }) => id),
    );
  }

  private judge(
    { organizationId, channel }: WorkedRun,
    contact: Contact | undefined,
    held: ReadonlySet<string>,
    device: string | null | undefined,
  ): Verdict {
    if (!contact || contact.state === 'merged') return 'recipient_unreachable';
    if (contact.state === 'erased') return 'erased';
    if (contact.state === 'deleted' || held.has(contact.id)) return 'contact_deleted';
    const text = addressOf(contact.profile, channel, device ?? null);
    if (text === null) return 'recipient_unreachable';
    const address = checkAddress(channel, text);
    if (!address) return 'invalid_address';
    return {
      contact,
      address: address.delivery,
      addressKey: this.keys.of(organizationId, address).current,
    };
  }

  private async settle(
    tx: WorkerTransaction,
    run: WorkedRun,
    judged: readonly { member: Member; verdict: Verdict }[],
  ): Promise<void> {
    const now = this.clock.now();
    const settled = judged.map(({ member, verdict }) =>
      typeof verdict === 'string'
        ? { row: { id: member.id, state: 'skipped', reason: verdict }, send: undefined }
        : sending(run, member, verdict, now),
    );
    await this.sends.add(
      tx,
      settled.flatMap(({ send }) => send ?? []),
      now,
    );
    await tx.query(SETTLE, [run.organizationId, run.id, JSON.stringify(settled.map(({ row }) => row))]);
  }
}

/** Merged into one that is not known counts as unknown: core says who it is. */
function isUnknown(contact: Contact | undefined): boolean {
  return contact === undefined || contact.state === 'merged';
}

/** The first who has an address gets it: the run's row is locked, so nobody else hands over at the same time. */
async function withoutRepeats(
  tx: WorkerTransaction,
  { organizationId, id }: WorkedRun,
  judged: readonly { member: Member; verdict: Verdict }[],
): Promise<{ member: Member; verdict: Verdict }[]> {
  const wanted = judged.flatMap(({ verdict }) => (typeof verdict === 'string' ? [] : verdict.addressKey));
  const rows = await tx.query<{ address_key: string }>(TAKEN, [organizationId, id, wanted]);
  const taken = new Set(rows.map((row) => row.address_key));
  return judged.map(({ member, verdict }) => {
    if (typeof verdict === 'string') return { member, verdict };
    if (taken.has(verdict.addressKey)) return { member, verdict: 'duplicate_address' };
    taken.add(verdict.addressKey);
    return { member, verdict };
  });
}

function sending(
  run: WorkedRun,
  member: Member,
  { contact, address, addressKey }: Exclude<Verdict, string>,
  now: Date,
): { row: object; send: NewSend } {
  const id = newId();
  const send: NewSend = {
    organizationId: run.organizationId,
    id,
    channel: run.channel,
    state: 'accepted',
    reason: null,
    category: run.category,
    topic: run.topic,
    contactId: contact.id,
    recipient: { contact_id: contact.id },
    address,
    addressKey,
    sender: null,
    templateId: run.templateId,
    templateVersion: run.templateVersion,
    locale: null,
    source: 'campaign',
    sourceId: run.campaignId,
    runId: run.id,
    eventId: null,
    campaignId: run.campaignId,
    metadata: null,
    correlationId: run.correlationId,
    dueAt: now,
    expiresAt: null,
    data: {},
    event: null,
    content: null,
  };
  return { row: { id: member.id, state: 'accepted', send_id: id, address_key: addressKey }, send };
}
