import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { Batcher, log, Pace, SteadyLoop } from '@customer-platform/http';
import { WakeableSleep } from '../../background/jobs/wakeable-sleep.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { DeliveryOutcomes, NOT_PERMITTED, type EndedTry } from './delivery-outcomes.js';
import {
  DeliveryQueue,
  MOST_IN_FLIGHT,
  type ClaimedDelivery,
  type WaitingEndpoint,
} from './delivery-queue.js';
import { DeliverySignal } from './delivery-signal.js';
import { EndpointTry } from './endpoint-try.js';
import { MakerRights } from '../../background/makers/maker-rights.js';
import { permissionsToRead } from '../../vocabulary/makers/reading-permissions.js';
import { Sockets, type GivenSockets } from './sockets.js';

/**
 * Without a signal, what becomes due by time or in other processes is found within this while there is any, else within
 * two seconds.
 */
const POLL_MS = 500;
/** Looks for what is due are at least so far apart: a burst is one look, not one each. */
const LOOK_MS = 10;
/** How long a stopping process waits for answers; what has none then is tried again by others. */
const STOP_MS = 4_000;
const PAUSE_AFTER_FAILURE_MS = 500;

/**
 * Delivers what is due. Endpoints do not wait for one another: each has its own ten tries at once, and a try that
 * hangs holds a socket and nothing else, no connection of the database and no turn.
 */
@Injectable()
export class Deliverer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly flights = new Map<string, number>();
  private inFlight = 0;
  /** Outcomes are written together, as many as have come while the ones before were being written. */
  private readonly outcomes: Batcher<EndedTry>;
  private unwritten = 0;
  private readonly rest = new WakeableSleep();
  private readonly pace = new Pace(POLL_MS);
  private readonly loop = new SteadyLoop({ name: 'webhook-deliveries', takes: 'rows of webhook_deliveries' });
  private stopping = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly queue: DeliveryQueue,
    private readonly written: DeliveryOutcomes,
    private readonly signal: DeliverySignal,
    private readonly makers: MakerRights,
    private readonly endpoints: EndpointTry,
    private readonly sockets: Sockets,
    private readonly clock: Clock,
  ) {
    this.outcomes = new Batcher({ enough: Infinity, run: (ended) => record(written, ended) });
  }

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.signal.listen(() => this.rest.wake());
    this.running = this.loop.run(
      () => this.stopping,
      () => this.look(),
    );
  }

  /** Begins nothing new and waits, not for ever, for the answers to what has begun. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.rest.wake();
    await this.running;
    const patience = Date.now() + STOP_MS;
    while ((this.inFlight > 0 || this.unwritten > 0) && Date.now() < patience) await pause(LOOK_MS);
  }

  private async look(): Promise<void> {
    try {
      this.rest.forgetWakes();
      if ((await this.take()) > 0) {
        this.pace.busy();
        await pause(LOOK_MS);
      } else await this.rest.sleep(this.pace.restMs);
    } catch (error) {
      log.error({ err: error }, 'What is due to webhook endpoints could not be looked for; trying again');
      await this.rest.sleep(PAUSE_AFTER_FAILURE_MS);
    }
  }

  /** One look at what is due. @returns how many tries it has begun */
  private async take(): Promise<number> {
    let given: GivenSockets | undefined;
    const share = (waiting: readonly WaitingEndpoint[]): number[] => {
      // A transaction that is tried again asks again.
      given?.release();
      const ready = waiting.filter(({ id }) => !this.written.waits(id));
      const now = this.sockets.share(ready);
      given = now;
      return waiting.map(({ id }) => now.count(id));
    };
    try {
      const claimed = await this.queue.claim(share);
      for (const delivery of claimed) this.begin(delivery, given?.use(delivery.endpoint_id));
      return claimed.length;
    } finally {
      given?.release();
    }
  }

  private begin(delivery: ClaimedDelivery, leave: (() => void) | undefined): void {
    const { endpoint_id: endpoint } = delivery;
    this.inFlight += 1;
    this.flights.set(endpoint, (this.flights.get(endpoint) ?? 0) + 1);
    this.attempt(delivery)
      .then((ended) => {
        this.inFlight -= 1;
        leave?.();
        const before = this.flights.get(endpoint) ?? 1;
        if (before > 1) this.flights.set(endpoint, before - 1);
        else this.flights.delete(endpoint);
        return ended && this.note(ended, before >= MOST_IN_FLIGHT || this.sockets.isShort);
      })
      .catch((error: unknown) => {
        log.error({ err: error, endpoint }, 'The outcome of a webhook delivery could not be noted');
      });
  }

  /** One try; undefined when it could not even be begun, and its claim will run out. */
  private async attempt(delivery: ClaimedDelivery): Promise<EndedTry | undefined> {
    const { event_id: id, payload: body, correlation_id: correlationId, url, secrets } = delivery;
    const endpoint = { organizationId: delivery.organization_id, id: delivery.endpoint_id, url, secrets };
    try {
      const verdict = await this.makers.judge(
        {
          organizationId: delivery.organization_id,
          makerType: delivery.maker_type,
          makerId: delivery.maker_id,
        },
        permissionsToRead(delivery.type),
      );
      if (verdict === 'unknown') return undefined;
      if (verdict === 'not_permitted')
        return { delivery, answer: NOT_PERMITTED, at: this.clock.now(), ms: 0 };
      return { delivery, ...(await this.endpoints.post(endpoint, { id, body, correlationId })) };
    } catch (error) {
      log.error({ err: error, endpoint: endpoint.id }, 'A webhook delivery could not be begun');
      return undefined;
    }
  }

  private async note(ended: EndedTry, isWaitedFor: boolean): Promise<void> {
    this.unwritten += 1;
    try {
      await this.outcomes.add(ended);
    } finally {
      this.unwritten -= 1;
    }
    if (isWaitedFor) this.rest.wake();
  }
}

/** Claims of what cannot be recorded run out, and it is told again under the same ids: receivers know them. */
async function record(outcomes: DeliveryOutcomes, ended: readonly EndedTry[]): Promise<void> {
  try {
    await outcomes.record(ended);
  } catch (error) {
    log.error({ err: error, count: ended.length }, 'Outcomes of webhook deliveries could not be recorded');
  }
}
