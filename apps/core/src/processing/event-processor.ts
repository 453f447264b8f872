import { Injectable } from '@nestjs/common';
import { WriteConflict, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { DeclaredAttributesReader, type DeclaredOfAll } from '../following/declared-attributes.reader.js';
import type { TrackBody } from '../vocabulary/events/event-schemas.js';
import { ErasedIdentifiers } from '../blocklist/erased-identifiers.js';
import { ContactIdentities } from '../people/contacts/contact-identities.js';
import { SegmentFollower } from '../following/segment-follower.js';
import { Enforcements } from '../taxonomies/enforcing/enforcements.js';
import type { ChunkContact, ChunkIdentity } from './chunk-contact.js';
import { lockContactOf, resolveContacts } from './contact-resolution.js';
import { identityChanges, writeContacts, writeIdentities } from './contact-writer.js';
import { ContestedIdentities, type Contests } from './contested-identities.js';
import { sortArrivals } from './dispositions.js';
import { blockedIn, forgotten, SubjectErased, withoutBlockedTraits, withoutErased } from './erased-people.js';
import {
  applyEvent,
  deadLetteredEvent,
  domainEvents,
  identityNews,
  resumePointOf,
  storedEvent,
  storedOnly,
  type Effect,
} from './event-effects.js';
import { addWarnings, countEvents, writeEvents, writeLetters } from './event-writer.js';
import { decideClaims } from './identity-claims.js';
import { withKeptIdentifiers } from './kept-identifiers.js';
import {
  failed,
  type Arrival,
  type FailedItem,
  type Failure,
  type ResumePoint,
  type Stage,
  type WorkItem,
} from '../vocabulary/events/work-item.js';

/** How far events have come; what a dead letter says of where its event failed. */
export interface Progress {
  stage: Stage;
}

/** How events are processed that are not simply taken off the queue. */
export interface ProcessingOptions {
  /** Id of the dead letter whose event this is. */
  readonly letterId?: string;
  /** Why the one event is stored without any further effect: it fails at what follows. */
  readonly storeOnly?: Failure;
}

/** Events that are written to their contacts, and what is to follow. */
interface Applied {
  readonly effects: readonly Effect[];
  readonly contests: Contests;
  /** By what attributes were checked; none where none was set. */
  readonly declared: DeclaredOfAll | undefined;
}

/**
 * The effect of events, in the caller's transaction: sort out repeats → resolve contacts → profiles and identities →
 * store → segments → emit. Every statement is bulk and names the organization of each of its rows, so that events of
 * many organizations cost what as many of one do. What becomes of events that fail is told by FailingEvents.
 */
@Injectable()
export class EventProcessor {
  constructor(
    private readonly outbox: Outbox,
    private readonly segments: SegmentFollower,
    private readonly contested: ContestedIdentities,
    private readonly identities: ContactIdentities,
    private readonly blocklist: ErasedIdentifiers,
    private readonly declared: DeclaredAttributesReader,
    private readonly enforcements: Enforcements,
  ) {}

  /**
   * Events of one contact must come in their order, and all of one contact through one transaction at a time.
   * @returns the effects of those that were stored
   * @throws WriteConflict when a concurrent transaction got in the way: roll back, and run the events again
   * @throws Superseded when definitions of attributes were changed meanwhile: as WriteConflict
   * @throws SubjectErased when the event of a dead letter is of a person who was erased
   */
  async process(
    tx: WorkerTransaction,
    arrivals: readonly Arrival[],
    progress: Progress = { stage: 'resolve' },
    { letterId, storeOnly }: ProcessingOptions = {},
  ): Promise<readonly Effect[]> {
    progress.stage = 'resolve';
    const { fresh, duplicates, dead: refused } = await sortArrivals(tx, arrivals, letterId);
    const read = await withKeptIdentifiers(tx, this.identities, fresh);
    const { items, contactOf, contacts, found, origins, erased } = await resolveContacts(
      tx,
      read,
      this.blocklist,
    );
    if (letterId !== undefined) demandProcessable(refused, erased);
    if (!storeOnly) progress.stage = 'profile';
    const declared = storeOnly ? undefined : await this.declaredFor(tx, items);
    const effects = items.map((item) =>
      storeOnly
        ? storedOnly(item, contactOf(item))
        : applyEvent(item, contactOf(item), declared?.get(item.organizationId)),
    );
    await this.warnOfSchemas(tx, effects);
    const contests = await this.writeContacts(tx, effects, contacts, found);
    progress.stage = 'store';
    await writeEvents(tx, effects, origins);
    const dead = [...(await withoutErased(tx, this.blocklist, refused)), ...[...erased].map(forgotten)];
    // The letter of a replay is there already.
    const halted =
      storeOnly && letterId === undefined ? effects.map((each) => haltedAt(each, storeOnly)) : [];
    await writeLetters(tx, [...dead, ...halted]);
    if (storeOnly) await this.outbox.append(tx, [...dead, ...halted].map(deadLetteredEvent));
    else await this.follow(tx, { effects, contests, declared }, dead, progress);
    await countEvents(tx, { effects, duplicates, dead }, letterId !== undefined);
    return effects;
  }

  /**
   * All that follows the store, of an event that was stored without it. What a person had who was erased since is
   * passed over.
   * @throws WriteConflict, Superseded
   */
  async resume(tx: WorkerTransaction, sent: WorkItem, from: ResumePoint, progress: Progress): Promise<void> {
    progress.stage = 'profile';
    const contact = await lockContactOf(tx, sent.organizationId, sent.eventId);
    const [item = sent] = await withKeptIdentifiers(tx, this.identities, [sent]);
    if (from.onDeleted) contact.deleted = true;
    const declared = await this.declaredFor(tx, [item]);
    const blocked = await blockedIn(tx, this.blocklist, [item], () => contact);
    const allowed = withoutBlockedTraits(item, blocked);
    const applied = applyEvent(allowed, contact, declared?.get(item.organizationId), from);
    const claims = applied.claims.filter(
      ({ type, normal }) => !blocked.some((each) => each.type === type && each.normal === normal),
    );
    const effects = [{ ...applied, claims }];
    const contests = await this.writeContacts(tx, effects, [contact], []);
    await addWarnings(tx, item.eventId, applied.warnings);
    await this.follow(tx, { effects, contests, declared }, [], progress);
  }

  /** What attributes are checked by; tracks set none. */
  private async declaredFor(
    tx: WorkerTransaction,
    items: readonly WorkItem[],
  ): Promise<DeclaredOfAll | undefined> {
    if (!items.some(({ kind }) => kind === 'identify')) return undefined;
    return this.declared.nowOfAll(tx, organizationsOf(items));
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

  /** Decides the claims of the events, and writes contacts and identities as they are then. */
  private async writeContacts(
    tx: WorkerTransaction,
    effects: readonly Effect[],
    contacts: readonly ChunkContact[],
    found: readonly ChunkIdentity[],
  ): Promise<Contests> {
    const decided = await decideClaims(
      tx,
      effects.flatMap(({ claims }) => claims),
    );
    const contests = await this.contested.judge(tx, decided);
    const outcomes = Map.groupBy(decided, ({ claim }) => claim.item);
    for (const { item, identities, warnings } of effects) {
      const own = outcomes.get(item) ?? [];
      identities.push(...own.flatMap(identityNews));
      // What folds into the contact is its own as soon as the events are stored.
      for (const outcome of own) {
        if (!('refused' in outcome) || ('owner' in outcome && contests.folds.includes(outcome))) continue;
        warnings.push({ pointer: outcome.claim.pointer, code: outcome.refused });
      }
    }
    await writeContacts(tx, contacts);
    await writeIdentities(tx, identityChanges(contacts, found, decided));
    return contests;
  }

  /** Segments and other modules learn of what is stored; then contested identities are settled. */
  private async follow(
    tx: WorkerTransaction,
    { effects, contests, declared }: Applied,
    dead: readonly FailedItem[],
    progress: Progress,
  ): Promise<void> {
    progress.stage = 'segments';
    await this.segments.eventsStored(tx, effects.map(storedEvent));
    if (declared) {
      const items = effects.map(({ item }) => item);
      await this.declared.demandSame(tx, declared, organizationsOf(items));
    }
    progress.stage = 'emit';
    await this.outbox.append(tx, [...domainEvents(effects), ...dead.map(deadLetteredEvent)]);
    // What follows from its claims is the profile's, however late it comes.
    progress.stage = 'profile';
    await this.contested.settle(tx, contests);
  }
}

/** @throws WriteConflict, SubjectErased where the event of a dead letter cannot be stored any more */
function demandProcessable(refused: readonly FailedItem[], erased: ReadonlySet<WorkItem>): void {
  if (refused.length > 0) throw new WriteConflict('The event of a dead letter has changed meanwhile');
  if (erased.size > 0) throw new SubjectErased('The person of a dead letter was erased');
}

function haltedAt(effect: Effect, failure: Failure): FailedItem {
  return { ...failed(effect.item, failure), resumePoint: resumePointOf(effect) };
}

function organizationsOf(items: readonly WorkItem[]): string[] {
  return [...new Set(items.map(({ organizationId }) => organizationId))];
}
