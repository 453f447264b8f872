import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  Clock,
  Database,
  isAway,
  isTransient,
  ranOut,
  type WorkerTransaction,
} from '@customer-platform/database';
import { isInfrastructureError } from '@customer-platform/event-bus';
import { ItemBackoff, log, PollingJob, TurnLine } from '@customer-platform/http';
import { ContactRefresh } from '../../people/contacts/contact-refresh.js';
import { Tenants } from '../../background/organizations/tenants.js';
import { ClaimsApart } from '../../background/jobs/claims-apart.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { EventWaits, type WaitingRef } from '../../people/event-waits/event-waits.repository.js';
import { Router } from './router.js';

const EVERY_MS = 1_000;
/** Organizations at the same time: a silent core costs each of them its time limit. */
export const ORGANIZATIONS_AT_ONCE = 8;
/** Organizations of one look: a tenant with many of them has its neighbours wait no longer. */
const MOST_OF_A_LOOK = 32;
/** So many failures, some minutes, say that it does not pass by itself. */
export const MOST_TRIES = 10;
/** Events of an organization, or their contacts, that one after another run into a time limit alone: then the others' turn comes. */
export const MOST_TIME_OUTS = 2;

/** An organization's turn in a look. */
interface Turn {
  readonly organizationId: string;
  /** How many in a row have run into a time limit alone. */
  timeOuts: number;
}

/**
 * Routes events whose contact has come since, and ends those whose contact has not within 15 minutes. Core is asked
 * as well: its events of a contact from long ago come no more.
 */
@Injectable()
export class WaitingEvents implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly looking = new PollingJob({
    name: 'waiting-events',
    takes: 'rows of event_waits',
    everyMs: EVERY_MS,
    pass: () => this.run(),
  });
  private readonly backoff: ItemBackoff;
  private readonly claims: ClaimsApart<string>;
  private readonly line: TurnLine;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly waits: EventWaits,
    private readonly router: Router,
    private readonly refresh: ContactRefresh,
    private readonly clock: Clock,
    tenants: Tenants,
  ) {
    this.backoff = new ItemBackoff('waiting-events', clock);
    this.claims = new ClaimsApart('waiting-event-claims', clock, (id: string) => id);
    this.line = new TurnLine(tenants);
  }

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.waits.listen(() => this.looking.wake());
    this.looking.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.looking.stop();
  }

  /** Looks at some that are due, and then again while there are: tenants take turns, and in a tenant its organizations. */
  private async run(): Promise<boolean> {
    const owners = await this.line.some(() => this.owners(), MOST_OF_A_LOOK);
    const due = await this.claims.take(owners, (some) =>
      this.database.acrossOrganizations((tx) => this.waits.take(tx, some, this.clock.now())),
    );
    const refsOf = Map.groupBy(due, (ref) => ref.organization_id);
    const organizations = owners.values();
    const lookAtThem = async (): Promise<void> => {
      for (const organizationId of organizations) {
        // What is left is due again a moment later, for another process.
        if (this.looking.stopping) return;
        await this.look(organizationId, refsOf.get(organizationId) ?? []);
      }
    };
    await Promise.all(Array.from({ length: ORGANIZATIONS_AT_ONCE }, lookAtThem));
    if (due.length > 0) this.looking.wake();
    return due.length > 0;
  }

  private async owners(): Promise<string[]> {
    const owners = await this.database.acrossOrganizations((tx) => this.waits.owners(tx, this.clock.now()));
    return owners.filter((id) => !this.claims.waits(id));
  }

  private async look(organizationId: string, refs: readonly WaitingRef[]): Promise<void> {
    if (refs.length === 0) return;
    const contactIds = [...new Set(refs.map((ref) => ref.contact_id))];
    await this.askCore({ organizationId, timeOuts: 0 }, this.inTurn(contactIds, String));
    await this.routeApart(
      { organizationId, timeOuts: 0 },
      this.inTurn(refs, (ref) => ref.event_id),
    );
  }

  /** Those that have failed alone keep none of the others from being tried. */
  private inTurn<T>(all: readonly T[], idOf: (one: T) => string): readonly T[] {
    return all.toSorted((a, b) => this.backoff.attempts(idOf(a)) - this.backoff.attempts(idOf(b)));
  }

  /** A contact that cannot be taken over keeps no other from coming. */
  private async askCore(turn: Turn, contactIds: readonly string[]): Promise<void> {
    if (turn.timeOuts >= MOST_TIME_OUTS) return;
    try {
      await this.refresh.unknown(turn.organizationId, contactIds);
      turn.timeOuts = 0;
      for (const id of contactIds) this.backoff.passed(id);
    } catch (error) {
      const [first] = contactIds;
      if (isSilent(error))
        log.warn({ err: error }, 'Core does not answer; events wait for its own of their contacts');
      else if (contactIds.length > 1) for (const half of halves(contactIds)) await this.askCore(turn, half);
      else if (first && isTransient(error)) this.tooSlow(turn, first, error);
      else log.error({ err: error }, 'A contact that core knows cannot be kept');
    }
  }

  /** Those at fault end up alone, are looked at again later, and are the only ones that wait for that. */
  private async routeApart(turn: Turn, refs: readonly WaitingRef[]): Promise<void> {
    if (turn.timeOuts >= MOST_TIME_OUTS) return;
    try {
      await this.database.acrossOrganizations((tx) => this.route(tx, turn.organizationId, refs));
      turn.timeOuts = 0;
      for (const ref of refs) this.backoff.passed(ref.event_id);
    } catch (error) {
      const [first] = refs;
      if (isSilent(error)) log.warn({ err: error }, 'Events that waited are routed later');
      else if (refs.length > 1) for (const half of halves(refs)) await this.routeApart(turn, half);
      else if (first && isTransient(error)) this.tooSlow(turn, first.event_id, error);
      else if (first) await this.fail(first, error);
    }
  }

  /** As of a send that is dispatched: what ran out of time has not failed. */
  private tooSlow(turn: Turn, id: string, error: unknown): void {
    this.backoff.failed(id, error);
    turn.timeOuts += 1;
    if (turn.timeOuts >= MOST_TIME_OUTS)
      log.warn(
        { organization: turn.organizationId },
        'Events that waited run into a time limit; the rest of them is routed later',
      );
  }

  private async fail(ref: WaitingRef, error: unknown): Promise<void> {
    this.backoff.failed(ref.event_id, error);
    try {
      const failures = await this.database.acrossOrganizations((tx) => this.waits.fail(tx, ref));
      if (failures >= MOST_TRIES) await this.end(ref);
    } catch (failure) {
      log.warn({ err: failure, event: ref.event_id }, 'A failure of an event that waited could not be noted');
    }
  }

  /** Ends as failed in the organization's sends; what cannot even do that stays, and is not looked at any more. */
  private async end(ref: WaitingRef): Promise<void> {
    const { organization_id: organizationId, event_id: eventId } = ref;
    try {
      await this.database.acrossOrganizations(async (tx) => {
        const [waiting] = await this.waits.lock(tx, organizationId, [eventId]);
        if (waiting) await this.router.giveUp(tx, waiting.event);
        await this.waits.remove(tx, organizationId, [eventId]);
      });
      this.backoff.passed(eventId);
    } catch (error) {
      if (isInfrastructureError(error) && !ranOut(error)) throw error;
      log.error({ err: error, event: eventId }, 'An event that waited is set aside in event_waits');
      await this.database.acrossOrganizations((tx) => this.waits.setAside(tx, ref));
    }
  }

  private async route(
    tx: WorkerTransaction,
    organizationId: string,
    refs: readonly WaitingRef[],
  ): Promise<void> {
    const waiting = await this.waits.lock(
      tx,
      organizationId,
      refs.map((ref) => ref.event_id),
    );
    const now = this.clock.now();
    const over = new Set(waiting.filter(({ until }) => until <= now).map(({ event }) => event.id));
    const settled = await this.router.routeWaiting(
      tx,
      waiting.map(({ event }) => event),
      over,
    );
    await this.waits.remove(tx, organizationId, settled);
  }
}

/** Core or the database do not answer. What ran out of time or memory, or met a lock, may be one event's doing. */
function isSilent(error: unknown): boolean {
  return isAway(error) || (isInfrastructureError(error) && !isTransient(error));
}

function halves<T>(items: readonly T[]): [readonly T[], readonly T[]] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}
