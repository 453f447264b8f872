import { Injectable } from '@nestjs/common';
import { Clock, Database, isAway, type WorkerTransaction } from '@customer-platform/database';
import { FailureAllowance, ItemBackoff } from '@customer-platform/http';
import type { PostAnswer } from '@customer-platform/outbound';
import type { ClaimedDelivery } from './delivery-queue.js';
import { LONGEST_STREAK_MS, nextTry, Randomness, STREAK_GAP_MS } from './delivery-schedule.js';
import { EndpointSwitch } from './endpoint-switch.js';
import { failureOf, isSuccess, statusOf } from './endpoint-try.js';

/** What became of a try: nothing is sent of what the endpoint's maker may not read. */
type DeliveryAnswer = PostAnswer | typeof NOT_PERMITTED;
export const NOT_PERMITTED = { refused: 'not_permitted' } as const;

/** A try that has ended. */
export interface EndedTry {
  readonly delivery: ClaimedDelivery;
  readonly answer: DeliveryAnswer;
  readonly at: Date;
  /** How long it took. */
  readonly ms: number;
}

const GONE = 410;
/** Tries of a delivery that are kept, the newest: those of a schedule, and of two that were asked for. */
const MOST_TRIES = 30;

/** Milliseconds of one recording for what has failed before, perhaps at its time limit: others' outcomes wait behind it. */
const FAILURES_MS = 10_000;

const RECORD = `
  UPDATE webhook_deliveries d SET state = o.state, attempts = d.attempts + 1, claim = NULL, status_code = o.status_code,
         error = o.error, attempted_at = $2, due_at = o.due_at,
         tries = CASE WHEN jsonb_array_length(d.tries) < ${String(MOST_TRIES)} THEN d.tries ELSE d.tries - 0 END
           || jsonb_build_array(o.tried)
    FROM jsonb_to_recordset($1::jsonb) AS o (organization_id uuid, endpoint_id uuid, event_id uuid, claim uuid,
           state text, status_code int, error text, due_at timestamptz, tried jsonb)
   WHERE d.organization_id = o.organization_id AND d.endpoint_id = o.endpoint_id AND d.event_id = o.event_id
     AND d.claim = o.claim`;

const END_STREAKS = `
  DELETE FROM webhook_failing_since WHERE (organization_id, endpoint_id)
     IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))`;

const GO_ON_FAILING = `
  INSERT INTO webhook_failing_since AS f (organization_id, endpoint_id, since, last_at)
  SELECT e.organization_id, e.id, $3, $3 FROM webhook_endpoints e
   WHERE (e.organization_id, e.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) AND e.enabled
   ORDER BY e.organization_id, e.id
  ON CONFLICT (organization_id, endpoint_id) DO UPDATE SET last_at = excluded.last_at,
    since = CASE WHEN f.last_at < $4 THEN excluded.since ELSE f.since END
  RETURNING organization_id, endpoint_id, since`;

/**
 * Writes down how tries have ended, many at once, and switches off endpoints that are gone or fail for too long. Where that
 * fails each endpoint's are written alone; one of which they cannot be written is left for a while, longer each time, and
 * told nothing meanwhile: its claims run out, and it is told again under the same ids, then apart from the others.
 */
@Injectable()
export class DeliveryOutcomes {
  private readonly backoff: ItemBackoff;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Randomness,
    private readonly endpoints: EndpointSwitch,
  ) {
    this.backoff = new ItemBackoff('webhook-outcomes', clock);
  }

  /** Tells whether outcomes of the endpoint could not be written a moment ago: it is told nothing until they are tried again. */
  waits(endpointId: string): boolean {
    return this.backoff.waits(endpointId);
  }

  /** @throws what says that the database is away */
  async record(ended: readonly EndedTry[]): Promise<void> {
    const left = ended.filter(({ delivery }) => !this.backoff.waits(delivery.endpoint_id));
    const failing = new Set(this.backoff.failing());
    const { true: apart = [], false: others = [] } = Object.groupBy(left, ({ delivery }) =>
      failing.has(delivery.endpoint_id) ? 'true' : 'false',
    );
    await this.together(others);
    // Together with the others they would only have each of them be written alone, every time.
    const allowance = new FailureAllowance(FAILURES_MS);
    for (const own of byEndpoint(apart)) if (!allowance.isSpent) await this.together(own, allowance);
  }

  private async together(ended: readonly EndedTry[], allowance?: FailureAllowance): Promise<void> {
    const [first] = ended;
    if (first === undefined) return;
    const ofEndpoints = byEndpoint(ended);
    try {
      const write = (): Promise<void> => this.write(ended);
      await (allowance ? allowance.note(write) : write());
      for (const { delivery } of ended) this.backoff.passed(delivery.endpoint_id);
    } catch (error) {
      if (isAway(error)) throw error;
      if (ofEndpoints.length === 1) this.backoff.failed(first.delivery.endpoint_id, error);
      else for (const own of ofEndpoints) await this.together(own);
    }
  }

  private async write(ended: readonly EndedTry[]): Promise<void> {
    // First the endpoint, then its delivery: a crash between the two leaves one that is tried once more, by nobody.
    for (const { delivery, answer } of ended)
      if (isGone(answer)) await this.endpoints.disable(delivery, 'gone');
    const now = this.clock.now();
    const failing = await this.database.acrossOrganizations(async (tx) => {
      await tx.query(RECORD, [JSON.stringify(ended.map((one) => this.rowOf(one, now))), now]);
      return this.keepStreaks(tx, ended, now);
    });
    for (const delivery of failing) await this.endpoints.disable(delivery, 'failing');
  }

  private rowOf({ delivery, answer, at, ms }: EndedTry, now: Date) {
    const { organization_id, endpoint_id, event_id, claim, attempts } = delivery;
    const [status, error] =
      'refused' in answer ? [null, answer.refused] : [statusOf(answer), failureOf(answer)];
    const delivered = error === null;
    const next =
      delivered || 'refused' in answer || isGone(answer)
        ? undefined
        : nextTry(attempts + 1, answer, now, this.random.next());
    const unfinished = next === undefined ? 'failed' : 'pending';
    return {
      organization_id,
      endpoint_id,
      event_id,
      claim,
      state: delivered ? 'delivered' : unfinished,
      status_code: status,
      error,
      due_at: next ?? null,
      tried: { at, status, error, ms },
    };
  }

  /** @returns one delivery of each endpoint that has failed for too long */
  private async keepStreaks(
    tx: WorkerTransaction,
    ended: readonly EndedTry[],
    now: Date,
  ): Promise<ClaimedDelivery[]> {
    const well = new Map(
      ended.filter(({ answer }) => isTaken(answer)).map((one) => [placeOf(one.delivery), one]),
    );
    if (well.size > 0) await tx.query(END_STREAKS, places([...well.values()]));
    const ill = new Map(
      ended
        .filter(({ answer }) => !('refused' in answer) && !isGone(answer))
        .filter(({ delivery }) => !well.has(placeOf(delivery)))
        .map((one) => [placeOf(one.delivery), one]),
    );
    if (ill.size === 0) return [];
    const rows = await tx.query<{ organization_id: string; endpoint_id: string; since: Date }>(
      GO_ON_FAILING,
      [...places([...ill.values()]), now, new Date(now.getTime() - STREAK_GAP_MS)],
    );
    return rows
      .filter(({ since }) => now.getTime() - since.getTime() >= LONGEST_STREAK_MS)
      .flatMap((row) => ill.get(placeOf(row))?.delivery ?? []);
  }
}

function byEndpoint(ended: readonly EndedTry[]): EndedTry[][] {
  return [...Map.groupBy(ended, ({ delivery }) => delivery.endpoint_id).values()];
}

function isTaken(answer: DeliveryAnswer): boolean {
  return !('refused' in answer) && isSuccess(answer);
}

function isGone(answer: DeliveryAnswer): boolean {
  return 'status' in answer && answer.status === GONE;
}

function placeOf({ organization_id, endpoint_id }: { organization_id: string; endpoint_id: string }): string {
  return `${organization_id}/${endpoint_id}`;
}

function places(tries: readonly EndedTry[]): [string[], string[]] {
  return [
    tries.map(({ delivery }) => delivery.organization_id),
    tries.map(({ delivery }) => delivery.endpoint_id),
  ];
}
