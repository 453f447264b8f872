import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Clock, Database, newId, ReferenceHolds, type WorkerTransaction } from '@customer-platform/database';
import { isInfrastructureError } from '@customer-platform/event-bus';
import { log } from '@customer-platform/http';
import { checkAddress } from '../../addresses/address.js';
import { AddressKeys } from '../../addresses/address-keys.provider.js';
import { addressOf, type Contact } from '../../contacts/contact.js';
import { ContactRefresh } from '../../contacts/contact-refresh.js';
import { ContactsRepository } from '../../contacts/contacts.repository.js';
import { CAMPAIGN_LANE, type NewSend } from '../../sends/send.js';
import { SendsRepository } from '../../sends/sends.repository.js';
import type { SkipReason } from '../campaign.js';
import { AudienceDevices } from './audience-devices.js';
import { CampaignMembersRepository, type Member, type SettledMember } from './campaign-members.repository.js';
import { AGAIN, holds, type Next, type WorkedRun } from './worked-run.js';

/** Members of one piece: its transaction takes some tenths of a second. */
const AT_ONCE = 500;
/** Sends that wait for a dispatcher; while there are as many nothing is handed over. */
const ENOUGH_WAITING = 500;
const LOOK_AGAIN_MS = 100;
/** Where all who are left have been put off. */
const PUT_OFF_MS = 1_000;
/** Core is asked between two of them: for the contacts, then for survivors that it named. */
const LOOKS = 3;

/** By the index of what is due; a million that wait for their hours are not counted. */
const WAITING = `
  SELECT count(*)::int AS count FROM (
    SELECT 1 FROM sends WHERE organization_id = $1 AND channel = $2 AND lane = ${CAMPAIGN_LANE} AND due_at <= $3
     LIMIT ${ENOUGH_WAITING}) AS waiting`;

/** What becomes of a member: a send, or a reason why there is none. */
type Verdict =
  { readonly contact: Contact; readonly address: string; readonly addressKey: string } | SkipReason;

/** A member with what becomes of it. */
interface Judged {
  readonly member: Member;
  readonly verdict: Verdict;
}

/** Members were looked at, or must be looked at anew once core has been asked for the contacts of these. */
type Piece = { readonly done: number } | { readonly open: readonly Open[] };

/** A member whose contact is not known here, and by whose id core has to be asked. */
interface Open {
  readonly member: Member;
  readonly key: string;
}

/** One look at the head of an audience, and what is learnt on the way. */
interface Look {
  readonly run: WorkedRun;
  readonly most: number;
  /** Whom core has been asked for, and of these those of whom its answer cannot be read or kept. */
  readonly asked: Set<string>;
  readonly unreadable: Set<string>;
  /** Core is asked no more: whom it has not been asked for is left to the next piece. */
  over: boolean;
  /** As they were last taken: one alone is at fault. */
  taken: readonly Member[];
}

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
    private readonly members: CampaignMembersRepository,
    private readonly sends: SendsRepository,
    private readonly keys: AddressKeys,
    private readonly holdsOn: ReferenceHolds,
    private readonly clock: Clock,
  ) {}

  /**
   * Where a piece fails, in halves, until the one at fault stands alone: it is looked at again, and holds up nobody.
   * @returns when there may be more; undefined: there is none @throws Problem `dependency_unavailable`
   */
  async piece(run: WorkedRun): Promise<Next | undefined> {
    if (await this.isFull(run)) return { inMs: LOOK_AGAIN_MS };
    for (let most = AT_ONCE; ; most >>= 1) {
      const look: Look = { run, most, asked: new Set(), unreadable: new Set(), over: false, taken: [] };
      try {
        return await this.pieceOf(look);
      } catch (error) {
        if (isInfrastructureError(error)) throw error;
        if (most > 1) continue;
        log.error({ err: error, run: run.id }, 'A member of an audience cannot be handed over');
        return this.putOff(look);
      }
    }
  }

  private isFull({ organizationId, channel }: WorkedRun): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      const [row] = await tx.query<{ count: number }>(WAITING, [organizationId, channel, this.clock.now()]);
      return (row?.count ?? 0) >= ENOUGH_WAITING;
    });
  }

  private async pieceOf(look: Look): Promise<Next | undefined> {
    const { run } = look;
    const devices = run.channel === 'push' ? await this.devicesOf(look) : undefined;
    for (let round = 1; ; round += 1) {
      look.over = round === LOOKS;
      const piece = await this.handOver(look, devices);
      if ('done' in piece) return piece.done > 0 ? AGAIN : this.left(run);
      for (const id of await this.ask(run, piece.open)) look.unreadable.add(id);
      for (const { key } of piece.open) look.asked.add(key);
    }
  }

  /** Who was put off is looked at again; the run is not over before. */
  private left(run: WorkedRun): Promise<Next | undefined> {
    return this.database.inOrganization(run, async (tx) =>
      (await this.members.areLeft(tx, run)) ? { inMs: PUT_OFF_MS } : undefined,
    );
  }

  private async putOff({ run, taken }: Look): Promise<Next> {
    return this.within(run, AGAIN, async (tx) => {
      await this.members.putOff(tx, run, taken);
      return AGAIN;
    });
  }

  private async devicesOf({ run, most }: Look): Promise<Map<string, string | null>> {
    const members = await this.database.inOrganization(run, (tx) =>
      this.members.pending(tx, run, most, { lock: false }),
    );
    return this.devices.of(
      run.organizationId,
      members.map((member) => member.contact_id),
    );
  }

  /** @returns those of whom core's answer cannot be read, or cannot be kept: they keep nobody else from coming */
  private async ask({ organizationId }: WorkedRun, open: readonly Open[]): Promise<readonly string[]> {
    const ask = async (ids: readonly string[]): Promise<readonly string[]> => {
      try {
        return await this.refresh.unknown(organizationId, ids);
      } catch (error) {
        if (isInfrastructureError(error)) throw error;
        if (ids.length === 1) return ids;
        const middle = ids.length >> 1;
        return [...(await ask(ids.slice(0, middle))), ...(await ask(ids.slice(middle)))];
      }
    };
    return ask(open.map(({ member }) => member.contact_id));
  }

  private handOver(look: Look, devices: ReadonlyMap<string, string | null> | undefined): Promise<Piece> {
    const { run, most } = look;
    const { organizationId } = run;
    return this.within<Piece>(run, { done: 1 }, async (tx) => {
      // Before the members' rows, as an erasure takes the two.
      await this.holdsOn.share(tx, 'core.contacts', [organizationId]);
      const members = await this.members.pending(tx, run, most, { lock: true });
      look.taken = members;
      const refs = members.map(({ contact_id: id }) => ({ organizationId, id }));
      const known = await this.contacts.resolve(tx, refs);
      const contactOf = (id: string): Contact | undefined => known.get(contactKey({ organizationId, id }));
      const { ready, open, unreadable } = sortOut(look, members, contactOf);
      if (open.length > 0 && !look.over) return { open };
      const held = await this.heldAmong(tx, [...known.values()]);
      const verdicts = ready
        .filter((member) => !devices || devices.has(member.contact_id))
        .map((member) => {
          const contact = contactOf(member.contact_id);
          return { member, verdict: this.judge(run, contact, held, devices?.get(member.contact_id)) };
        });
      await this.settle(tx, run, await this.withoutRepeats(tx, run, verdicts));
      await this.members.putOff(tx, run, unreadable);
      return { done: members.length };
    });
  }

  /** In a transaction in which the run stays in the hands of this process. */
  private within<T>(run: WorkedRun, otherwise: T, work: (tx: WorkerTransaction) => Promise<T>): Promise<T> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(run.organizationId);
      return (await holds(tx, run)) ? work(tx) : otherwise;
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

  private async settle(tx: WorkerTransaction, run: WorkedRun, judged: readonly Judged[]): Promise<void> {
    const now = this.clock.now();
    const settled = judged.map(({ member, verdict }) =>
      typeof verdict === 'string'
        ? { row: { id: member.id, state: 'skipped' as const, reason: verdict }, send: undefined }
        : sending(run, member, verdict, now),
    );
    await this.sends.add(
      tx,
      settled.flatMap(({ send }) => send ?? []),
      now,
    );
    await this.members.settle(
      tx,
      run,
      settled.map(({ row }) => row),
    );
  }

  /**
   * The first who has an address gets it, and nobody gets two, whoever they were merged into meanwhile. The run's row is
   * locked, so nobody else hands over at the same time.
   */
  private async withoutRepeats(
    tx: WorkerTransaction,
    run: WorkedRun,
    judged: readonly Judged[],
  ): Promise<Judged[]> {
    const wanted = judged.flatMap(({ verdict }) => (typeof verdict === 'string' ? [] : verdict));
    const taken = await this.members.takenAddresses(
      tx,
      run,
      wanted.map(({ addressKey }) => addressKey),
    );
    const reached = await this.members.reachedContacts(
      tx,
      run,
      wanted.map(({ contact }) => contact.id),
    );
    return judged.map(({ member, verdict }) => {
      if (typeof verdict === 'string') return { member, verdict };
      if (taken.has(verdict.addressKey)) return { member, verdict: 'duplicate_address' };
      if (reached.has(verdict.contact.id)) return { member, verdict: 'duplicate_contact' };
      taken.add(verdict.addressKey);
      reached.add(verdict.contact.id);
      return { member, verdict };
    });
  }
}

/** Members move into the head while core is asked: who has come since is as open as who was there before. */
function sortOut(
  { asked, unreadable }: Look,
  members: readonly Member[],
  contactOf: (id: string) => Contact | undefined,
): { ready: Member[]; open: Open[]; unreadable: Member[] } {
  const sorted = { ready: [] as Member[], open: [] as Open[], unreadable: [] as Member[] };
  for (const member of members) {
    const { contact_id: id } = member;
    const key = openKey(id, contactOf(id));
    if (key === undefined) sorted.ready.push(member);
    else if (!asked.has(key)) sorted.open.push({ member, key });
    else if (unreadable.has(key) || unreadable.has(id)) sorted.unreadable.push(member);
    else sorted.ready.push(member);
  }
  return sorted;
}

/**
 * By whose id core has to be asked before anything can be said; undefined: by nobody's. Merged into one that is not
 * known counts as unknown: core says who it is.
 */
function openKey(contactId: string, contact: Contact | undefined): string | undefined {
  if (contact === undefined) return contactId;
  return contact.state === 'merged' ? (contact.mergedInto ?? contactId) : undefined;
}

function sending(
  run: WorkedRun,
  member: Member,
  { contact, address, addressKey }: Exclude<Verdict, string>,
  now: Date,
): { row: SettledMember; send: NewSend } {
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
