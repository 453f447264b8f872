import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Instance, isReady, type RunningPlatform, type SecondInstances } from './instances.ts';
import { type Bench, describe, GUARANTEE_MS, untilPermitted } from './round.ts';
import { fatesOf } from './stored.ts';
import { type Observation, readAt, trackAt, Traffic } from './traffic.ts';

const STEADY_MS = 1_000;
const WATCHED_AFTER_MS = 4_000;
const RETURNS_WITHIN_MS = 120_000;

/** What identity's absence showed. */
export interface Outage {
  readonly seconds: number;
  /** Management, begun over a second after the end of identity and before its return. */
  readonly denied: number;
  readonly notDenied: readonly string[];
  /** Ingestion with a key that stayed, over the whole time. */
  readonly accepted: number;
  readonly notAccepted: readonly string[];
  /** From identity's return to the begin of the first permit of the slowest target. */
  readonly recoveryMs: number;
  /** Begun over a second after the return and not permitted. */
  readonly notRecovered: readonly string[];
  /** Events of the key that an operator revoked meanwhile: stored, refused, and those whose fate is wrong. */
  readonly revokedKey: {
    readonly stored: number;
    readonly refused: number;
    readonly wrong: readonly string[];
  };
  /** Events of the key that stayed that were not stored. */
  readonly lost: number;
  /** Events accepted over a second after the return with the key that was revoked. */
  readonly revokedPermitted: number;
}

/** What an outage is made with. */
export interface OutageBench extends Bench {
  readonly root: string;
  readonly platform: RunningPlatform;
  readonly second: SecondInstances;
  readonly identityDatabaseUrl: string;
}

/** Identity, both instances, ends by force and comes back; one key of two is revoked meanwhile by an operator. */
export async function runOutage(bench: OutageBench, seconds: number): Promise<Outage> {
  const { tenants, instances, platform, second } = bench;
  const tenant = await tenants.withMachine();
  const other = await tenants.key(tenant, tenant.roleId);
  const cores = instances.filter(({ module }) => module === 'core').map(trackAt);
  const reads = instances.filter(({ module }) => module !== 'identity').map(readAt);
  const staying = new Traffic(tenant.credential);
  const revoked = new Traffic(other.key);
  try {
    staying.start([...reads, ...cores]);
    revoked.start(cores);
    await untilPermitted(staying, [...reads, ...cores]);
    await untilPermitted(revoked, cores);
    await pause(STEADY_MS);
    const killed = await killIdentity(platform, second);
    await pause((seconds * 1_000) / 2);
    const revoking = performance.now();
    await revokeAsOperator(bench, other.id);
    const gone = performance.now();
    await pause(killed + seconds * 1_000 - performance.now());
    const { absent, returned } = await reviveIdentity(platform, second, instances);
    await pause(WATCHED_AFTER_MS);
    await Promise.all([staying.stop(), revoked.stop()]);
    const times = { killed, revoking, gone, absent, returned };
    const { organizationId } = tenant;
    return {
      seconds,
      ...judgeStaying(staying, times),
      ...(await judgeFates(bench, organizationId, staying, revoked, times)),
    };
  } finally {
    await Promise.all([staying.stop(), revoked.stop()]);
    resume(platform);
  }
}

interface Times {
  readonly killed: number;
  readonly revoking: number;
  readonly gone: number;
  /** Nobody listened in identity's place up to then; it may answer modules a moment before it calls itself ready. */
  readonly absent: number;
  readonly returned: number;
}

function judgeStaying(
  { observations }: Traffic,
  { killed, absent, returned }: Times,
): Pick<Outage, 'denied' | 'notDenied' | 'accepted' | 'notAccepted' | 'recoveryMs' | 'notRecovered'> {
  const management = observations.filter(({ target }) => target.kind === 'management');
  const ingestion = observations.filter(({ target }) => target.kind === 'ingestion');
  const during = management.filter(({ began, ended }) => began > killed + GUARANTEE_MS && ended < absent);
  const after = observations.filter(({ began }) => began > returned + GUARANTEE_MS);
  return {
    denied: during.filter(({ verdict }) => verdict === 'denied').length,
    notDenied: during.filter(({ verdict }) => verdict !== 'denied').map(named),
    accepted: ingestion.filter(({ status }) => status === 202).length,
    notAccepted: ingestion.filter(({ status }) => status !== 202).map(named),
    recoveryMs: recovery(management, returned),
    notRecovered: after.filter(({ status }) => status < 200 || status > 299).map(named),
  };
}

/** From the return to the begin of the first permit after the last denial, of the slowest target. */
function recovery(management: readonly Observation[], returned: number): number {
  const denied = management.filter(({ verdict }) => verdict === 'denied');
  const lastBegan = Math.max(returned, ...denied.map(({ began }) => began));
  return lastBegan - returned;
}

async function judgeFates(
  { core }: Bench,
  organizationId: string,
  staying: Traffic,
  revoked: Traffic,
  { revoking, gone, returned }: Times,
): Promise<Pick<Outage, 'revokedKey' | 'lost' | 'revokedPermitted'>> {
  const sent = await fatesOf(core, organizationId, staying.observations);
  const { of } = await fatesOf(core, organizationId, revoked.observations);
  const accepted = revoked.observations.filter(({ eventId }) => eventId !== undefined);
  const fateOf = ({ eventId = '' }: Observation): string => of.get(eventId) ?? 'lost';
  const before = accepted.filter(({ ended }) => ended < revoking);
  const after = accepted.filter(({ began }) => began > gone);
  const wrong = [
    ...before.filter((each) => fateOf(each) !== 'stored'),
    ...after.filter((each) => fateOf(each) !== 'credential_revoked'),
  ];
  return {
    revokedKey: {
      stored: accepted.filter((each) => fateOf(each) === 'stored').length,
      refused: accepted.filter((each) => fateOf(each) === 'credential_revoked').length,
      wrong: wrong.map((each) => `accepted ${Math.round(each.began - gone)} ms after: ${fateOf(each)}`),
    },
    lost: [...sent.of.values()].filter((fate) => fate !== 'stored').length + sent.lost,
    revokedPermitted: accepted.filter(({ began }) => began > returned + GUARANTEE_MS).length,
  };
}

/** The supervisor would start it again at once: it stands still for that time. */
async function killIdentity(platform: RunningPlatform, second: SecondInstances): Promise<number> {
  const pid = platform.pidOf('identity');
  process.kill(platform.supervisor, 'SIGSTOP');
  process.kill(pid, 'SIGKILL');
  await second.kill('identity');
  return performance.now();
}

/** Starts it again; resolves with the instants up to which nobody listened there and at which it was ready. */
async function reviveIdentity(
  platform: RunningPlatform,
  second: SecondInstances,
  instances: readonly Instance[],
): Promise<Pick<Times, 'absent' | 'returned'>> {
  const url = instances.find(({ module, which }) => module === 'identity' && which === 'first')?.url ?? '';
  const internalPort = platform.internalPortOf('identity');
  resume(platform);
  let absent = performance.now();
  const deadline = absent + RETURNS_WITHIN_MS;
  while (!(await isReady(url))) {
    const asked = performance.now();
    if (!(await listens(internalPort))) absent = asked;
    if (asked > deadline) throw new Error('Identity did not come back.');
    await pause(10);
  }
  const returned = performance.now();
  await second.revive('identity');
  return { absent, returned };
}

function listens(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

function resume(platform: RunningPlatform): void {
  process.kill(platform.supervisor, 'SIGCONT');
}

/** The operator's way: identity itself is not there to ask. */
async function revokeAsOperator({ root, identityDatabaseUrl }: OutageBench, keyId: string): Promise<void> {
  const program = join(root, 'apps/identity/dist/platform.js');
  await promisify(execFile)(process.execPath, [program, 'keys', 'revoke', keyId], {
    cwd: root,
    env: { PATH: process.env['PATH'], DATABASE_URL: identityDatabaseUrl },
  });
}

function named(each: Observation): string {
  return `${each.target.name}: ${describe(each)}`;
}
