import { Problem } from '@customer-platform/problem-json';
import { FairQueue, type InLane } from './fair-queue.js';
import { LaneAllowance } from './lane-allowance.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import type { RenderFailureReason, RenderJob, RenderReply } from '../../vocabulary/rendering/render-job.js';
import { RenderProcess, type Ending, type Question } from './render-process.js';
import type { RenderProfile } from './render-profile.js';

/** Questions a process is given ahead, of all tenants, so that it never waits for the way back and forth. */
const AHEAD = 8;
/** A process that died for no reason of the template's is not held against it. */
const TRIES = 3;

/** How many may wait before a question is refused. */
export interface WaitingBounds {
  readonly ofOrganization: number;
  readonly ofTenant: number;
  readonly inAll: number;
}

/** Which tenant's turns an organization has; its own where that is not known. */
export type TenantOf = (organizationId: string) => string;

type JobBody = RenderJob extends infer Job ? (Job extends RenderJob ? Omit<Job, 'id'> : never) : never;

/**
 * Processes of one profile: started when there is work, killed with the question that breaks a limit, gone when idle.
 * Tenants take turns, and within a tenant its organizations: whose templates are slow, or many, waits for itself.
 */
export class RenderPool {
  private readonly processes = new Set<RenderProcess>();
  private readonly waiting = new FairQueue<Question>();
  private readonly allowance = new LaneAllowance();
  private nextId = 1;
  private closed = false;
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly profile: RenderProfile,
    private readonly tenantOf: TenantOf,
  ) {}

  /** Ends all processes; nothing is answered any more. */
  close(): void {
    this.closed = true;
    clearTimeout(this.idleTimer);
    for (const process of this.processes) process.kill();
  }

  /**
   * What is `apart` of an organization takes turns with the rest of it, as if it were another of its tenant's.
   * @throws RenderFailure, Problem `rate_limited` when as many wait as the bounds allow, `dependency_unavailable` when
   * processes end for no reason of the template's
   */
  async ask(
    organizationId: string,
    body: JobBody,
    { bounds, apart = '' }: { readonly bounds?: WaitingBounds | undefined; readonly apart?: string } = {},
  ): Promise<Record<string, string>> {
    const lane = { organization: organizationId + apart, tenant: this.tenantOf(organizationId) };
    if (bounds) this.refuseBeyond(bounds, lane);
    return new Promise((resolve, reject) => {
      const job = { ...body, id: this.nextId++ } as RenderJob;
      const question: Question = {
        job,
        ...lane,
        tries: 0,
        settle: (reply: RenderReply): void => {
          this.allowance.note(lane.tenant, question.cost ?? Infinity);
          if ('parts' in reply) resolve({ ...reply.parts });
          else reject(new RenderFailure(reply.failure));
        },
        fail: reject,
      };
      this.waiting.add(question);
      this.pump();
    });
  }

  private refuseBeyond({ ofOrganization, ofTenant, inAll }: WaitingBounds, lane: InLane): void {
    const { waiting } = this;
    const isRoom = waiting.size < inAll && waiting.sizeOfTenant(lane.tenant) < ofTenant;
    if (isRoom && waiting.sizeOf(lane) < ofOrganization) return;
    const detail = 'Too many templates wait to be rendered or checked.';
    throw new Problem('rate_limited', { detail, headers: { 'Retry-After': '1' } });
  }

  private pump(): void {
    while (!this.closed) {
      let place = undefined as RenderProcess | undefined;
      const question = this.waiting.take((tenant) => (place = this.placeFor(tenant)) !== undefined);
      if (!question || !place) break;
      place.ask(question);
    }
    this.watchIdleness();
  }

  /** The freest process with room for the tenant; a further one is started only when those there have work ahead. */
  private placeFor(tenant: string): RenderProcess | undefined {
    const [freest] = [...this.processes]
      .filter((process) => process.load < AHEAD && process.loadOf(tenant) < this.allowance.of(tenant))
      .sort((a, b) => a.load - b.load);
    if (freest) return freest;
    return this.processes.size < this.profile.processes ? this.start() : undefined;
  }

  private start(): RenderProcess {
    const process = new RenderProcess(
      this.profile,
      () => this.pump(),
      (ended, ending) => this.recover(ended, ending),
    );
    this.processes.add(process);
    return process;
  }

  private recover(process: RenderProcess, { blamed, reason, untouched }: Ending): void {
    this.processes.delete(process);
    for (const question of untouched) question.tries -= 1;
    for (const question of untouched.toReversed()) this.waiting.putBack(question);
    if (blamed) this.blame(blamed, reason);
    this.pump();
  }

  private blame(question: Question, reason: RenderFailureReason | undefined): void {
    if (!reason && question.tries < TRIES && !this.closed) {
      this.waiting.putBack(question);
      return;
    }
    if (reason) question.settle({ id: question.job.id, cpu: 0, failure: reason });
    else question.fail(unavailable());
  }

  /** After a while an idle platform keeps none. */
  private watchIdleness(): void {
    clearTimeout(this.idleTimer);
    if (this.closed || !this.waiting.isEmpty) return;
    this.idleTimer = setTimeout(() => this.retire(), this.profile.idleMilliseconds);
    this.idleTimer.unref();
  }

  private retire(): void {
    for (const process of this.processes) if (process.load === 0) process.kill();
  }
}

function unavailable(): Problem {
  const detail = 'No renderer came to an end with the template; try again.';
  return new Problem('dependency_unavailable', { detail, headers: { 'Retry-After': '1' } });
}
