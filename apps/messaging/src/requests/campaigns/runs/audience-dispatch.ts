import { Injectable } from '@nestjs/common';
import { Clock, Database, newId, ReferenceHolds, type WorkerTransaction } from '@customer-platform/database';
import { isInfrastructureError, mayBeOfItsValues } from '@customer-platform/event-bus';
import { log, turns } from '@customer-platform/http';
import { CAMPAIGN_LANE, type NewSend } from '../../../vocabulary/sends/send.js';
import { SendsRepository } from '../../../dispatch/sends/sends.repository.js';
import { CampaignMembersRepository, type Member, type SettledMember } from './campaign-members.repository.js';
import { KnownMembers, withoutRepeats, type ReachedMember, type Verdict } from './known-members.js';
import { askedFor, sortOut, type OpenMember } from './open-members.js';
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

/** A member with what becomes of it. */
interface Judged {
  readonly member: Member;
  readonly verdict: Verdict;
}

/** Members were looked at, or must be looked at anew once core has been asked for the contacts of these. */
type Piece = { readonly done: number } | { readonly open: readonly OpenMember[] };

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
export class AudienceDispatch {
  constructor(
    private readonly database: Database,
    private readonly known: KnownMembers,
    private readonly members: CampaignMembersRepository,
    private readonly sends: SendsRepository,
    private readonly holdsOn: ReferenceHolds,
    private readonly clock: Clock,
  ) {}

  /**
   * Where a piece fails, in halves, until the one at fault stands alone: it is looked at again, and holds up nobody.
   * @returns when there may be more; undefined: there is none @throws Problem `dependency_unavailable`
   */
  async piece(run: WorkedRun): Promise<Next | undefined> {
    if (await this.isFull(run)) return { inMs: LOOK_AGAIN_MS };
    for (let most = AT_ONCE; most > 0; most >>= 1) {
      const look: Look = { run, most, asked: new Set(), unreadable: new Set(), over: false, taken: [] };
      try {
        return await this.pieceOf(look);
      } catch (error) {
        if (isInfrastructureError(error) && !mayBeOfItsValues(error)) throw error;
        if (most > 1) continue;
        // Before any member was read: of the run, not of a member.
        if (isInfrastructureError(error) || look.taken.length === 0) throw error;
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
    for await (const { isLast } of turns({ most: LOOKS })) {
      look.over = isLast;
      const piece = await this.handOver(look);
      if ('done' in piece) return piece.done > 0 ? AGAIN : this.left(run);
      for (const id of await this.known.ask(run, piece.open)) look.unreadable.add(id);
      for (const { key, device } of piece.open) look.asked.add(askedFor(key, device));
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

  private handOver(look: Look): Promise<Piece> {
    const { run, most } = look;
    const { organizationId } = run;
    return this.within<Piece>(run, { done: 1 }, async (tx) => {
      // Before the members' rows, as an erasure takes the two.
      await this.holdsOn.share(tx, 'core.contacts', [organizationId]);
      const members = await this.members.pending(tx, run, most, { lock: true });
      look.taken = members;
      const ids = members.map(({ contact_id: id }) => id);
      const known = await this.known.of(tx, run, ids);
      const { ready, open, unreadable } = sortOut(look, members, known);
      if (open.length > 0 && !look.over) return { open };
      const contacts = ready.flatMap((member) => known.contact(member.contact_id) ?? []);
      const held = await this.known.heldAmong(tx, contacts);
      const verdicts = ready.map((member) => ({
        member,
        verdict: this.known.judge(run, known.contact(member.contact_id), held, known),
      }));
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
    return withoutRepeats(judged, taken, reached);
  }
}

function sending(
  run: WorkedRun,
  member: Member,
  { contact, address, addressKey }: ReachedMember,
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
