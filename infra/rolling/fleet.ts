import { type Wiring, appEnvironment } from '@customer-platform/local/platform/app-environment.ts';
import { startNodeProcess } from '@customer-platform/local/platform/app-process.ts';
import type { DataFolder } from '@customer-platform/local/platform/data-folder.ts';
import {
  type AppName,
  APPS,
  ROOT,
  type ProcessRole,
  mainOf,
} from '@customer-platform/local/platform/modules.ts';
import type { Child } from '@customer-platform/local/services/child.ts';
import type { Guardian } from '@customer-platform/local/services/guardian.ts';
import { PortChoice } from '@customer-platform/kit/ports.ts';
import { Balancers } from './balancers.ts';

/** One process of a release. */
interface Instance {
  readonly name: string;
  readonly app: AppName;
  readonly role: ProcessRole;
  readonly child: Child;
  /** At which ports it listens behind which addresses; none of a worker, whom nobody calls. */
  readonly behind: ReadonlyMap<number, number>;
}

/** How one instance gave way to another. */
interface Restart {
  /** From the signal to the end of the old process, in milliseconds. */
  readonly endedWithinMs: number;
  /** Whether it had to be killed, or ended with an error. */
  readonly orderly: boolean;
}

/** What a cluster's grace period is here; an app ends within 10 s by itself. */
const GRACE_MS = 15_000;
/** As `npm start` has it: accepting goes first when the processors are busy. */
const YIELDING = 10;
const ACCEPTING: ReadonlySet<AppName> = new Set(['gateway', 'core', 'identity']);

/** The apps of one platform, each behind an address that stays while its instances change. */
export class Fleet {
  private readonly wiring: Wiring;
  private readonly data: DataFolder;
  private readonly guardian: Guardian;
  private readonly env: NodeJS.ProcessEnv;
  private readonly ports = new PortChoice();
  private readonly balancers = new Balancers();
  private readonly running = new Set<Instance>();

  /** `env` is what the person who starts all this has set. */
  constructor(wiring: Wiring, data: DataFolder, guardian: Guardian, env: NodeJS.ProcessEnv) {
    this.wiring = wiring;
    this.data = data;
    this.guardian = guardian;
    this.env = env;
  }

  /** Opens the addresses and starts core's api, `workers` workers of it, and one instance of every other app. */
  async start(workers: number): Promise<void> {
    const addresses = APPS.flatMap((app) => this.addressesOf(app));
    await Promise.all(addresses.map((address) => this.balancers.listen(address)));
    await Promise.all(APPS.map((app) => this.launch(app, app, app === 'core' ? 'api' : 'all')));
    const names = Array.from({ length: workers }, (_, at) => `core-worker-${at + 1}`);
    await Promise.all(names.map((name) => this.launch(name, 'core', 'worker')));
  }

  /** Those that run, workers first. */
  get instances(): Instance[] {
    return [...this.running].sort((a, b) => order(a) - order(b));
  }

  /** As a Deployment with `maxSurge: 1, maxUnavailable: 0`: the new one is ready before the old one is told to end. */
  async replace(old: Instance): Promise<Restart> {
    await this.launch(old.name, old.app, old.role);
    await this.balance('remove', old);
    const signalled = performance.now();
    const { code, signal } = await old.child.stop(GRACE_MS);
    this.running.delete(old);
    return { endedWithinMs: performance.now() - signalled, orderly: code === 0 && signal === null };
  }

  async stop(): Promise<void> {
    const ending = [...this.running].map(({ child }) => child.stop(GRACE_MS));
    await Promise.all(ending);
    this.balancers.close();
  }

  private async launch(name: string, app: AppName, role: ProcessRole): Promise<void> {
    const behind = new Map<number, number>();
    for (const address of this.addressesOf(app)) behind.set(address, await this.ports.free());
    const [publicPort, internalPort, returnedMail] = behind.values();
    const env = {
      ...appEnvironment(app, this.wiring, { env: this.env, role }),
      PORT: String(publicPort),
      INTERNAL_PORT: String(internalPort),
      ...(returnedMail === undefined ? {} : { RETURN_SMTP_PORT: String(returnedMail) }),
      DRAIN_SECONDS: '3',
    };
    let child: Child | undefined;
    await startNodeProcess(
      {
        name,
        args: [mainOf(app)],
        env,
        cwd: ROOT,
        log: this.data.log(name),
        guardian: this.guardian,
        ...(ACCEPTING.has(app) && role !== 'worker' ? {} : { niceness: YIELDING }),
        readyUrl: `http://127.0.0.1:${app === 'gateway' ? internalPort : publicPort}/health/ready`,
      },
      (began) => (child = began),
    );
    if (!child) throw new Error(`${name} started no process.`);
    const instance: Instance = { name, app, role, child, behind: role === 'worker' ? new Map() : behind };
    this.running.add(instance);
    await this.balance('add', instance);
  }

  /** As a cluster does: a pod that is ready is given connections, one that is to end none any more. */
  private async balance(what: 'add' | 'remove', { behind }: Instance): Promise<void> {
    for (const [address, port] of behind) await this.balancers[what](address, port);
  }

  /** Where an app is called: its routes, what other modules ask of it, and where mail comes back to. */
  private addressesOf(app: AppName): number[] {
    const { ports } = this.wiring;
    const own = [ports.public[app], ports.internal[app]];
    return app === 'messaging' ? [...own, ports.returnedMail] : own;
  }
}

function order({ role, app }: Instance): number {
  return role === 'worker' ? 0 : APPS.indexOf(app) + 1;
}
