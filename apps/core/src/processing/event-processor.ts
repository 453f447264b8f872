import { Injectable } from '@nestjs/common';
import type { WorkerTransaction } from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import { DeclaredAttributesReader, type DeclaredOfAll } from '../attributes/declared-attributes.reader.js';
import { ErasedIdentifiers } from '../subject-requests/blocklist/erased-identifiers.js';
import { SegmentFollower } from '../segments/following/segment-follower.js';
import { Enforcements } from '../taxonomies/enforcing/enforcements.js';
import { applyEvent, domainEvents, noEffect, storedEvent, type Effect } from './chunk-effects.js';
import { resolveContacts } from './contact-resolution.js';
import type { TrackBody } from '../ingestion/event-schemas.js';
import { RaceLost, within } from './contact-state.js';
import { ContestedIdentities, type Contests } from './contested-identities.js';
import { forgotten, SubjectErased, withoutErased } from './erased-people.js';
import { identityChanges, writeContacts, writeIdentities } from './contact-writer.js';
import { sortArrivals, type Dispositions } from './dispositions.js';
import { UsageTally, writeEvents, writeLetters } from './event-writer.js';
import { decideClaims, type ClaimOutcome } from './identity-claims.js';
import { remainderOf } from './remainder.js';
import {
  failed,
  type Arrival,
  type FailedItem,
  type Failure,
  type Remainder,
  type Stage,
  type WorkItem,
} from './work-item.js';

/** How far a chunk has come; what a dead letter says of where its event failed. */
export interface Progress {
  stage: Stage;
  /** Of an event that was stored although it fails at a later stage. */
  remainder?: Remainder;
}

/** What the events of a chunk have done besides being stored. */
interface Applied {
  readonly effects: Effect[];
  readonly outcomes: Map<WorkItem, ClaimOutcome[]>;
  readonly origins: Map<string, string | null>;
  readonly contests: Contests;
  readonly erased: ReadonlySet<WorkItem>;
  /** By what attributes were checked; none where none was set. */
  readonly declared?: DeclaredOfAll | undefined;
}

const NOTHING: Applied = {
  effects: [],
  outcomes: new Map(),
  origins: new Map(),
  contests: { folds: [], suggestions: [] },
  erased: new Set(),
};

/** How a chunk is run that is not simply taken off the queue. */
export interface ProcessingOptions {
  /** Ids of the dead letters whose events these are. */
  readonly letters?: readonly string[];
  /** The one event fails at this stage, past `store`: it is stored, goes so far and is set aside. */
  readonly halted?: Failure;
}

/**
 * The whole effect of a run of events, in the caller's transaction: sort out repeats → resolve contacts → profiles and
 * identities → store → segments → tell. Every statement is bulk and names the organization of each of its rows, so
 * that events of many organizations cost what as many of one do.
 */
@Injectable()
export class ChunkProcessor {
  constructor(
    private readonly outbox: Outbox,
    private readonly segments: SegmentFollower,
    private readonly contested: ContestedIdentities,
    private readonly blocklist: ErasedIdentifiers,
    private readonly declared: DeclaredAttributesReader,
    private readonly enforcements: Enforcements,
  ) {}

  /**
   * Events of one contact must come in their order, and all of one contact through one transaction at a time.
   * @throws RaceLost when a concurrent transaction got in the way: roll back, and run the chunk again
   * @throws Superseded when definitions of attributes were changed meanwhile: as RaceLost
   * @throws SubjectErased when the event of a dead letter is of a person who was erased
   */
  async process(
    tx: WorkerTransaction,
    arrivals: readonly Arrival[],
    progress: Progress,
    { letters, halted }: ProcessingOptions = {},
  ): Promise<void> {
    progress.stage = 'resolve';
    const sorted = await sortArrivals(tx, arrivals, letters);
    if (letters && sorted.dead.length > 0)
      throw new RaceLost('The event of a dead letter has changed meanwhile');
    const applied = await this.applyAll(tx, sorted.fresh, progress, halted);
    const { effects, outcomes, origins, contests, erased, declared } = applied;
    if (letters && erased.size > 0) throw new SubjectErased('The person of a dead letter was erased');
    const dead = [...(await withoutErased(tx, this.blocklist, sorted.dead)), ...[...erased].map(forgotten)];
    progress.stage = 'store';
    await writeEvents(tx, effects, origins);
    await writeLetters(tx, dead);
    if (halted?.stage !== 'profile' && halted?.stage !== 'segments') {
      progress.stage = 'segments';
      await this.segments.eventsStored(tx, effects.map(storedEvent));
    }
    if (declared) await this.declared.demandSame(tx, declared, organizationsOf(sorted.fresh));
    if (halted) await this.setAside(tx, applied, progress, halted, letters);
    else {
      progress.stage = 'emit';
      const told = [...domainEvents(effects, outcomes), ...dead.map(deadLetteredEvent)];
      await this.outbox.append(tx, told);
      // What follows from its claims is the profile's, however late it comes.
      progress.stage = 'profile';
      await this.contested.settle(tx, contests);
    }
    await tallyOf({ ...sorted, dead }, effects, letters !== undefined).write(tx);
  }

  /** Keeps what is left of the one event in a dead letter; that of a replay is there. */
  private async setAside(
    tx: WorkerTransaction,
    { effects, outcomes }: Applied,
    progress: Progress,
    halted: Failure,
    letters: readonly string[] | undefined,
  ): Promise<void> {
    progress.stage = 'store';
    for (const effect of effects) {
      const remainder = remainderOf(effect, outcomes.get(effect.item) ?? []);
      progress.remainder = remainder;
      if (letters) continue;
      const item = { ...failed(effect.item, halted), remainder };
      await writeLetters(tx, [item]);
      await this.outbox.append(tx, deadLetteredEvent(item));
    }
  }

  /** Contacts, profiles and identities: what the events change beside themselves. */
  private async applyAll(
    tx: WorkerTransaction,
    items: readonly WorkItem[],
    progress: Progress,
    halted: Failure | undefined,
  ): Promise<Applied> {
    if (items.length === 0) return NOTHING;
    const { byExternalId, found, erased } = await resolveContacts(tx, items, this.blocklist);
    const apply = halted?.stage === 'profile' ? noEffect : applyEvent;
    if (apply === applyEvent) progress.stage = 'profile';
    // Tracks set no attributes.
    const declared = items.some(({ kind }) => kind === 'identify')
      ? await this.declared.nowOfAll(tx, organizationsOf(items))
      : undefined;
    const effects = items.flatMap((item) => {
      if (erased.has(item)) return [];
      const contact = byExternalId.get(within(item.organizationId, item.body.external_id));
      if (!contact) throw new TypeError('An event was not resolved to a contact');
      return apply(item, contact, declared?.get(item.organizationId));
    });
    await this.warnOfSchemas(tx, effects);
    const decided = await decideClaims(
      tx,
      effects.flatMap(({ claims }) => claims),
    );
    const contests = await this.contested.judge(tx, decided);
    const outcomes = Map.groupBy(decided, ({ claim }) => claim.item);
    for (const { item, warnings } of effects)
      warnings.push(...warningsOf(outcomes.get(item) ?? [], contests));
    const contacts = [...new Set(byExternalId.values())];
    await writeContacts(tx, contacts);
    await writeIdentities(tx, identityChanges(contacts, found, decided));
    const origins = new Map(
      found.map(({ organizationId, normal, originId }) => [within(organizationId, normal), originId]),
    );
    return { effects, outcomes, origins, contests, erased, declared };
  }

  /**
   * What breaks a schema is stored with warnings, in whatever mode: a refusal was the API's to give, before its 202.
   * Installed is what is installed now, a replay of years later included.
   */
  private async warnOfSchemas(tx: WorkerTransaction, effects: readonly Effect[]): Promise<void> {
    const tracks = effects.filter(({ item }) => item.kind === 'track');
    if (tracks.length === 0) return;
    const organizationIds = tracks.map(({ item }) => item.organizationId);
    const enforcements = await this.enforcements.ofAll(tx, organizationIds);
    if (enforcements.size === 0) return;
    for (const { item, warnings } of tracks) {
      const { event, properties = {} } = item.body as TrackBody;
      const broken = enforcements.get(item.organizationId)?.violations(event, properties, 'warn') ?? [];
      warnings.push(...broken.map(({ pointer }) => ({ pointer, code: 'schema_violation' })));
    }
  }
}

function organizationsOf(items: readonly WorkItem[]): string[] {
  return [...new Set(items.map(({ organizationId }) => organizationId))];
}

/** What folds into the contact is its own as soon as the events are stored. */
export function warningsOf(
  outcomes: readonly ClaimOutcome[],
  { folds }: Contests,
): { pointer: string; code: string }[] {
  return outcomes.flatMap((outcome) => {
    if (!('refused' in outcome) || ('owner' in outcome && folds.includes(outcome))) return [];
    return { pointer: outcome.claim.pointer, code: outcome.refused };
  });
}

function tallyOf(
  { duplicates, dead }: Dispositions,
  effects: readonly Effect[],
  isReplay: boolean,
): UsageTally {
  const tally = new UsageTally();
  for (const { item, contact } of effects) {
    if (isReplay) tally.replayed(item, 'stored');
    else tally.consumed(item, 'stored');
    if (contact.created?.by === item) tally.created(item);
  }
  for (const arrival of duplicates) {
    if (isReplay) tally.replayed(arrival, 'duplicates');
    else tally.consumed(arrival, 'duplicates');
  }
  for (const item of dead) tally.consumed(item, 'dead');
  return tally;
}

function deadLetteredEvent(item: FailedItem): NewDomainEvent {
  const { organizationId, eventId, failure } = item;
  return {
    type: 'core.event.dead_lettered.v1',
    organizationId,
    key: eventId,
    subject: `events/${eventId}`,
    correlationId: eventId,
    data: { event_id: eventId, stage: failure.stage, code: failure.code },
  };
}
