import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { type Instance, MODULES } from './instances.ts';
import { type Loss, tenantFor } from './losses.ts';
import { fatesOf } from './stored.ts';
import type { Tenants } from './tenants.ts';
import { type Observation, readAt, type Target, trackAt, Traffic } from './traffic.ts';

/** identity.md §8: no request begun later than this after the 2xx is permitted. */
export const GUARANTEE_MS = 1_000;
/** Observed for so long after the 2xx. */
const WATCH_MS = 1_700;
const WARM_WITHIN_MS = 30_000;
const STEADY_MS = 300;
/** Each target must have been asked at least so often in the time in which nothing may be permitted. */
const FEWEST_ASKED = 5;

/** What is done to the platform while rights are lost. */
export interface Disturbance {
  readonly name: string;
  /** Before the first round and after the last. */
  begin?(): Promise<void> | void;
  end?(): Promise<void> | void;
  /** Targets that are asked only after `beforeLoss`. */
  coldAtFirst?(target: Target): boolean;
  /** With the requests under way. Returns when it has happened. */
  beforeLoss?(traffic: Traffic): Promise<void>;
  /** After the 2xx. */
  afterLoss?(): Promise<void>;
  /** When the round has been observed. */
  mend?(): void;
  /** Whether an instance is without its registry: it denies, and ingestion goes on unconfirmed. */
  cutsOff?(target: Target): boolean;
  /** Nothing is queued, so that no event needs a fate. */
  readonly withoutQueue?: boolean;
}

/** What one round showed. */
export interface Round {
  readonly loss: string;
  /** From the 2xx's receipt to the last permit's begin; 0 where none began later. */
  readonly slowestMs: number;
  readonly permittedLate: readonly Observation[];
  /** Of an instance that is cut off, begun over a second after that: neither denied nor, by ingestion, accepted. */
  readonly notDenied: readonly Observation[];
  /** Requests of instances with a registry that were denied or not answered, begun over a second after the 2xx. */
  readonly denied: number;
  readonly refusals: ReadonlySet<string>;
  readonly asked: number;
  /** Events that were lost, doubled, stored though sent without the right, or refused though sent with it. */
  readonly wrongFates: readonly string[];
  /** Events that the registry did not confirm. */
  readonly unconfirmed: number;
}

/** What rounds are made with. */
export interface Bench {
  readonly instances: readonly Instance[];
  readonly tenants: Tenants;
  readonly core: pg.Client;
}

/** One right given, used by everybody, lost, and watched. */
export async function runRound(bench: Bench, loss: Loss, disturbance: Disturbance): Promise<Round> {
  const tenant = await tenantFor(loss, bench.tenants);
  const targets = targetsOf(bench.instances, loss);
  const cold = targets.filter((target) => disturbance.coldAtFirst?.(target) === true);
  const warm = targets.filter((target) => !cold.includes(target));
  const traffic = new Traffic(tenant.credential);
  try {
    traffic.start(warm);
    await untilPermitted(traffic, warm);
    await pause(STEADY_MS);
    traffic.start(cold);
    const disturbed = performance.now();
    await disturbance.beforeLoss?.(traffic);
    const losing = performance.now();
    await loss.end(tenant);
    const lost = performance.now();
    await disturbance.afterLoss?.();
    await pause(WATCH_MS - (performance.now() - lost));
    await traffic.stop();
    disturbance.mend?.();
    const times = { disturbed, losing, lost };
    const seen = judge(traffic.observations, targets, times, disturbance);
    return { loss: loss.name, ...seen, ...(await fates(bench, tenant, traffic, times, disturbance)) };
  } finally {
    disturbance.mend?.();
    await traffic.stop();
  }
}

/** When the way to the registry was disturbed, the call that takes the right began, and its 2xx was received. */
interface Times {
  readonly disturbed: number;
  readonly losing: number;
  readonly lost: number;
}

/** Every instance of every module; by a machine core's ingestion too. */
function targetsOf(instances: readonly Instance[], loss: Loss): Target[] {
  const ingesting = loss.of === 'machine' ? instances.filter(({ module }) => module === 'core') : [];
  return [...instances.map(readAt), ...ingesting.map(trackAt)];
}

/** @throws Error naming the targets that do not permit what they should. */
export async function untilPermitted(traffic: Traffic, targets: readonly Target[]): Promise<void> {
  const deadline = performance.now() + WARM_WITHIN_MS;
  for (;;) {
    const missing = targets.filter((target) => traffic.since(0, target).at(-1)?.verdict !== 'permitted');
    if (missing.length === 0) return;
    if (performance.now() > deadline) {
      const last = missing.map((target) => `${target.name} (${describe(traffic.since(0, target).at(-1))})`);
      throw new Error(`A right that was given is not there: ${last.join(', ')}.`);
    }
    await pause(20);
  }
}

function judge(
  observations: readonly Observation[],
  targets: readonly Target[],
  { disturbed, lost }: Times,
  disturbance: Disturbance,
): Omit<Round, 'loss' | 'wrongFates' | 'unconfirmed'> {
  const isCut = (target: Target): boolean => disturbance.cutsOff?.(target) === true;
  const late = observations.filter(({ began }) => began > lost + GUARANTEE_MS);
  demandObserved(targets, late);
  // What ingestion accepts while it is cut off is judged by its fate.
  const counted = observations.filter(({ target }) => !isCut(target) || target.kind === 'management');
  const permitted = counted.filter(({ verdict }) => verdict === 'permitted');
  const reached = late.filter(({ target }) => !isCut(target));
  return {
    slowestMs: Math.max(0, ...permitted.map(({ began }) => began - lost)),
    permittedLate: permitted.filter(({ began }) => began > lost + GUARANTEE_MS),
    notDenied: observations.filter(
      (each) => isCut(each.target) && each.began > disturbed + GUARANTEE_MS && !isExpectedCutOff(each),
    ),
    denied: reached.filter(({ verdict }) => verdict === 'denied' || verdict === 'silent').length,
    refusals: new Set(reached.filter(({ verdict }) => verdict === 'refused').map(describe)),
    asked: late.length,
  };
}

function isExpectedCutOff({ target, verdict, status }: Observation): boolean {
  return target.kind === 'management' ? verdict === 'denied' : status === 202 || verdict === 'denied';
}

/** @throws Error where a target was hardly asked: its silence would prove nothing. */
function demandObserved(targets: readonly Target[], late: readonly Observation[]): void {
  for (const target of targets) {
    const asked = late.filter((each) => each.target === target).length;
    if (asked < FEWEST_ASKED)
      throw new Error(`${target.name} was asked only ${asked} times after the guarantee's second.`);
  }
}

/** What was sent with the right is stored; what an instance without its registry took after the second is not. */
async function fates(
  { core }: Bench,
  { organizationId }: { organizationId: string },
  { observations }: Traffic,
  { losing, lost }: Times,
  disturbance: Disturbance,
): Promise<Pick<Round, 'wrongFates' | 'unconfirmed'>> {
  if (disturbance.withoutQueue === true) return { wrongFates: [], unconfirmed: 0 };
  const accepted = observations.filter(({ eventId }) => eventId !== undefined);
  const { of, lost: missing, doubled } = await fatesOf(core, organizationId, accepted);
  const fateOf = ({ eventId = '' }: Observation): string => of.get(eventId) ?? 'lost';
  const before = accepted.filter((each) => each.ended < losing && fateOf(each) !== 'stored');
  const after = accepted.filter(
    (each) => each.began > lost + GUARANTEE_MS && fateOf(each) !== 'credential_revoked',
  );
  return {
    wrongFates: [
      ...(missing > 0 ? [`${missing} accepted and neither stored nor set aside`] : []),
      ...(doubled > 0 ? [`${doubled} stored and set aside`] : []),
      ...before.map((each) => `accepted ${Math.round(losing - each.ended)} ms before: ${fateOf(each)}`),
      ...after.map((each) => `accepted ${Math.round(each.began - lost)} ms after: ${fateOf(each)}`),
    ],
    unconfirmed: [...of.values()].filter((fate) => fate === 'credential_revoked').length,
  };
}

/** Status and code, as a person reads them. */
export function describe(observation: Observation | undefined): string {
  if (!observation) return 'no answer yet';
  const { status, code } = observation;
  return status === 0 ? 'no answer' : `${status} ${code}`.trim();
}

/** How many targets a machine's round has: for the program's first line. */
export const TARGETS_OF_A_MACHINE = MODULES.length * 2 + 2;
