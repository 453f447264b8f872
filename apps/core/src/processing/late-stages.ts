import { Injectable } from '@nestjs/common';
import type { WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { DeclaredAttributes } from '../attributes/declared-attributes.js';
import { DeclaredAttributesReader } from '../attributes/declared-attributes.reader.js';
import { SegmentFollower } from '../segments/following/segment-follower.js';
import type { IdentifyBody } from '../ingestion/event-schemas.js';
import { ErasedIdentifiers } from '../subject-requests/blocklist/erased-identifiers.js';
import { attempted, type Setback } from './careful-processor.js';
import { applyEvent, noEffect, storedEvent, type Effect } from './chunk-effects.js';
import { warningsOf, type Progress } from './chunk-processor.js';
import { lockContactOf } from './contact-resolution.js';
import { identityChanges, writeContacts, writeIdentities } from './contact-writer.js';
import { ContestedIdentities, type Contests } from './contested-identities.js';
import { blockedIn, type NamedByEvent } from './erased-people.js';
import { addWarnings } from './event-writer.js';
import { claimsOf, decideClaims, type Claim } from './identity-claims.js';
import { comesBefore, lateDomainEvents, remainderOf, together } from './remainder.js';
import type { Failure, Remainder, Stage, WorkItem } from './work-item.js';

/** An event that is stored and failed at a later stage. */
export interface StoredItem {
  readonly item: WorkItem;
  readonly stage: Stage;
  readonly remainder: Remainder;
}

/** Runs what is left of stored events from the stage at which they failed: nothing that was done is done again. */
@Injectable()
export class LateStages {
  constructor(
    private readonly contested: ContestedIdentities,
    private readonly segments: SegmentFollower,
    private readonly outbox: Outbox,
    private readonly declared: DeclaredAttributesReader,
    private readonly blocklist: ErasedIdentifiers,
  ) {}

  /**
   * Undefined once the event has come through; else how far it came, which is no less than before.
   * @throws RaceLost and what says that the database is away
   */
  async replay(tx: WorkerTransaction, stored: StoredItem): Promise<Setback | undefined> {
    const attempt = (progress: Progress, halted?: Failure): Promise<Failure | undefined> =>
      attempted(tx, progress, stored.item.eventId, () => this.run(tx, stored, progress, halted));
    let failure = await attempt({ stage: stored.stage });
    while (failure && comesBefore(stored.stage, failure.stage)) {
      const progress: Progress = { stage: stored.stage };
      const again = await attempt(progress, failure);
      if (!again) return { failure, remainder: progress.remainder };
      failure = again;
    }
    return failure && { failure: { ...failure, stage: stored.stage }, remainder: stored.remainder };
  }

  private async run(
    tx: WorkerTransaction,
    stored: StoredItem,
    progress: Progress,
    halted: Failure | undefined,
  ): Promise<void> {
    const { item } = stored;
    const contact = await lockContactOf(tx, item.organizationId, item.eventId);
    if (stored.remainder.onDeleted) contact.deleted = true;
    const { effect, remainder, contests } = await this.declared.within(tx, (declared) =>
      this.applyRest(tx, stored, contact, declared),
    );
    progress.remainder = remainder;
    if (stored.stage !== 'emit') {
      if (halted?.stage === 'segments') return;
      progress.stage = 'segments';
      const { created, changedFields } = remainder;
      await this.segments.eventsStored(tx, [{ ...storedEvent(effect), created, changedFields }]);
    }
    if (halted) return;
    progress.stage = 'emit';
    await this.outbox.append(tx, lateDomainEvents(effect, remainder));
    progress.stage = 'profile';
    await this.contested.settle(tx, contests);
  }

  /**
   * The profile, if it failed there; and the claims of what others have, which were left until all is told. What a person
   * had who was erased since the event was stored is passed over.
   */
  private async applyRest(
    tx: WorkerTransaction,
    { item, stage, remainder }: StoredItem,
    contact: Effect['contact'],
    declared: DeclaredAttributes,
  ): Promise<{ effect: Effect; remainder: Remainder; contests: Contests }> {
    const { eventId } = item;
    const blocked = await blockedIn(tx, this.blocklist, [item], () => contact);
    const effect =
      stage === 'profile'
        ? applyEvent(withoutTraits(item, blocked), contact, declared)
        : { ...noEffect(item, contact), claims: contestedClaims(item, contact, remainder) };
    const free = effect.claims.filter(
      ({ type, normal }) => !blocked.some((each) => each.type === type && each.normal === normal),
    );
    const decided = await decideClaims(tx, free);
    const contests = await this.contested.judge(tx, decided);
    await writeContacts(tx, [contact]);
    await writeIdentities(tx, identityChanges([contact], [], decided));
    await addWarnings(tx, eventId, [...effect.warnings, ...warningsOf(decided, contests)]);
    const now = { ...remainderOf(effect, decided), onDeleted: remainder.onDeleted };
    return { effect, remainder: together(remainder, now), contests };
  }
}

/** The event without the address and the number that its contact is not to have. */
function withoutTraits(item: WorkItem, blocked: readonly NamedByEvent[]): WorkItem {
  if (blocked.length === 0) return item;
  const body = item.body as IdentifyBody;
  const traits = Object.entries(body.traits).filter(
    ([name, sent]) => !blocked.some(({ type, value }) => type === name && value === sent),
  );
  return { ...item, body: { ...body, traits: Object.fromEntries(traits) } };
}

function contestedClaims(item: WorkItem, contact: Effect['contact'], { contested }: Remainder): Claim[] {
  if (contact.deleted || contested.length === 0) return [];
  const { claims } = claimsOf(contact, item, ['email', 'phone']);
  return claims.filter(({ pointer }) => contested.includes(pointer));
}
