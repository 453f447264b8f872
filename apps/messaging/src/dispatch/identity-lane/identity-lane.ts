import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { log, Pace, SteadyLoop } from '@customer-platform/http';
import { waitAtMost } from '../../background/jobs/wait-at-most.js';
import { WakeableSleep } from '../../background/jobs/wakeable-sleep.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { Tenants } from '../../background/organizations/tenants.js';
import { DispatchSignal } from '../sends/dispatch-signal.js';
import type { ClaimedSend } from '../gate/claimed-send.js';
import { DispatchBatch, type BatchOwner } from '../gate/dispatch-batch.js';
import { GENERAL_LANES } from '../gate/dispatcher.js';
import { TenantTurns } from '../../background/organizations/tenant-turns.js';
import { Transports } from '../transports/transports.js';
import { IdentityClaims } from './identity-claims.js';
import { identityPlan } from './identity-plan.js';

/** Injection token of the {@link DispatchBatch} by which identity's mail goes. */
export const IDENTITY_BATCH = Symbol('IDENTITY_BATCH');

/** Without a signal, mail that becomes due by time or in other processes is found within this while there is any. */
const POLL_MS = 250;
/** And within this after half a minute without any. */
const QUIET_POLL_MS = 500;
/** At once in hand between claim and hand-off; each asks identity for its link. */
const BATCH = 32;
/** How long a stopping process waits for hand-offs that have begun. */
const STOP_MS = 4_000;
const PAUSE_AFTER_FAILURE_MS = 500;

/**
 * Identity's own mail on a way of its own (messaging.md §3): its sends, transport and turn are nobody else's, so no
 * organization's backlog, templates or providers delay it; between tenants it goes round, and in each between its
 * organizations, so that who invites ten thousand people keeps nobody else's mail waiting. After the claim it passes the same gate as everything.
 */
@Injectable()
export class IdentityLane implements OnApplicationBootstrap, BeforeApplicationShutdown, BatchOwner {
  stopping = false;
  readonly patienceMs = GENERAL_LANES.patienceMs;
  private inHand = 0;
  private readonly working = new Set<Promise<void>>();
  private readonly flights = new Map<string, Promise<void>>();
  private readonly rest = new WakeableSleep();
  private readonly pace = new Pace(POLL_MS, { everyMs: QUIET_POLL_MS });
  private readonly loop = new SteadyLoop({ name: 'dispatch-identity', takes: 'rows of sends' });
  private readonly turns: TenantTurns;
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly signal: DispatchSignal,
    private readonly claims: IdentityClaims,
    private readonly transports: Transports,
    @Inject(IDENTITY_BATCH) private readonly work: DispatchBatch,
    tenants: Tenants,
  ) {
    this.turns = new TenantTurns(tenants);
  }

  onApplicationBootstrap(): void {
    if (!this.config.identitySmtp) {
      log.warn(
        'PLATFORM_SMTP_URL is not set: identity’s mail, invitations and password resets, is held until it is',
      );
      return;
    }
    if (!this.config.worker) return;
    this.signal.listen(() => this.rest.wake(), 'identity');
    this.running = this.loop.run(
      () => this.stopping,
      () => this.look(),
    );
  }

  /** Begins nothing new and waits, not for ever, for what has begun. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.rest.wake();
    await waitAtMost(STOP_MS, this.drained());
  }

  inFlight(send: ClaimedSend, work: Promise<void>): void {
    const flight = work.catch((error: unknown) => log.error({ err: error }, 'A hand-off ended in an error'));
    this.flights.set(send.id, flight);
  }

  late(sends: readonly ClaimedSend[], work: Promise<void>): void {
    for (const send of sends) this.inFlight(send, work);
  }

  private async drained(): Promise<void> {
    await this.running;
    await Promise.all(this.working);
  }

  private async look(): Promise<void> {
    try {
      this.rest.forgetWakes();
      if ((await this.round()) > 0) this.pace.busy();
      else await this.rest.sleep(this.pace.restMs);
    } catch (error) {
      log.error({ err: error }, 'Identity’s mail could not be looked for; trying again');
      await this.rest.sleep(PAUSE_AFTER_FAILURE_MS);
    }
  }

  /** One look at what is due. @returns how many mails it has taken up */
  private async round(): Promise<number> {
    const smtp = this.config.identitySmtp;
    if (!smtp) return 0;
    const room = Math.min(BATCH, this.transports.of(identityPlan(smtp)).capacity()) - this.inHand;
    if (room <= 0) return 0;
    const turns = this.turns.give(await this.claims.waiting(), room);
    if (turns.length === 0) return 0;
    const sends = await this.claims.take(turns);
    for (const send of sends) this.begin(send);
    return sends.length;
  }

  /** Each by itself: one whose link is slow to come holds up no other. */
  private begin(send: ClaimedSend): void {
    this.inHand += 1;
    const work: Promise<void> = this.carry(send).finally(() => {
      this.inHand -= 1;
      this.working.delete(work);
      this.rest.wake();
    });
    this.working.add(work);
  }

  private async carry(send: ClaimedSend): Promise<void> {
    try {
      await this.work.process([send], this);
      // A slow preparation first, then the hand-off it leads to.
      for (let rest = this.flights.get(send.id); rest; rest = this.flights.get(send.id)) {
        this.flights.delete(send.id);
        await rest;
      }
    } catch (error) {
      log.error({ err: error }, 'A mail of identity could not be dispatched; it is taken up again');
    } finally {
      this.flights.delete(send.id);
    }
  }
}
