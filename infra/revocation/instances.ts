import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@customer-platform/kit/ports.ts';
import { environmentOf } from '@customer-platform/kit/processes.ts';
import { type Link, PostgresLink, RegistryLink } from './links.ts';

/** The modules, two instances of each. */
export const MODULES = ['identity', 'core', 'crm', 'loyalty', 'messaging'] as const;
export type Module = (typeof MODULES)[number];

/** One process of a module; the second of each reaches its registry by a link. */
export interface Instance {
  readonly module: Module;
  readonly which: 'first' | 'second';
  readonly url: string;
  readonly link?: Link;
}

const READY_WITHIN_MS = 120_000;
const END_WITHIN_MS = 10_000;
const local = (port: number | string): string => `http://127.0.0.1:${port}`;

/** The processes of a platform that `npm start` runs, by what they are called there. */
export class RunningPlatform {
  private readonly data: string;

  constructor(data: string) {
    this.data = data;
  }

  /** What restarts every process that ends. */
  get supervisor(): number {
    return (JSON.parse(readFileSync(join(this.data, 'supervisor.pid'), 'utf8')) as { pid: number }).pid;
  }

  /** @throws Error when nothing of that name runs. */
  pidOf(name: string): number {
    const processes = JSON.parse(readFileSync(join(this.data, 'processes.json'), 'utf8')) as {
      name: string;
      pid: number;
    }[];
    const found = processes.find((each) => each.name === name);
    if (!found) throw new Error(`${name} is no process of the platform in ${this.data}.`);
    return found.pid;
  }

  environmentOf(name: string): Record<string, string> {
    const environment = environmentOf(this.pidOf(name));
    if (!environment) throw new Error(`${name} has just ended.`);
    return environment;
  }

  /** From the plan of the start: a process that has ended says nothing. */
  internalPortOf(module: Module): number {
    const plan = JSON.parse(readFileSync(join(this.data, 'ports.json'), 'utf8')) as {
      internal: Record<string, number>;
    };
    return plan.internal[module] ?? 0;
  }

  logOf(name: string): string {
    return join(this.data, 'logs', `${name}.log`);
  }
}

/** The platform's own instance of each module. */
export function firstInstances(platform: RunningPlatform): Instance[] {
  return MODULES.map((module) => ({
    module,
    which: 'first',
    url: local(platform.environmentOf(module)['PORT'] ?? ''),
  }));
}

/** A further instance of each module: it serves requests beside the platform's own, with the same database and keys. */
export class SecondInstances {
  private readonly running = new Map<Module, { child: ChildProcess; instance: Instance }>();
  private readonly environments = new Map<Module, Record<string, string>>();
  private readonly root: string;
  private readonly platform: RunningPlatform;

  private constructor(root: string, platform: RunningPlatform) {
    this.root = root;
    this.platform = platform;
    // Whatever ends this program ends them.
    process.once('exit', () => {
      for (const { child } of this.running.values()) child.kill('SIGKILL');
    });
  }

  static async start(root: string, platform: RunningPlatform): Promise<SecondInstances> {
    const second = new SecondInstances(root, platform);
    try {
      for (const module of MODULES) await second.prepare(module);
      await Promise.all(second.all.map((instance) => second.untilReady(instance)));
      return second;
    } catch (error) {
      await second.stop();
      throw error;
    }
  }

  get all(): Instance[] {
    return [...this.running.values()].map(({ instance }) => instance);
  }

  get links(): Link[] {
    return this.all.flatMap(({ link }) => (link ? [link] : []));
  }

  /** Ends one as a crash would. */
  async kill(module: Module): Promise<void> {
    const child = this.running.get(module)?.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
  }

  /** Starts one anew that has been killed; it is the same to those who call it. */
  async revive(module: Module): Promise<void> {
    const known = this.running.get(module);
    if (!known) throw new Error(`There is no second instance of ${module}.`);
    const { instance } = known;
    this.running.set(module, { instance, child: this.spawn(module) });
    await this.untilReady(instance);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.running.values()].map(({ child }) => end(child)));
    await Promise.all(this.links.map((link) => link.close()));
  }

  private async prepare(module: Module): Promise<void> {
    const environment = this.platform.environmentOf(module);
    const port = await freePort();
    const { link, changed } = await linkOf(module, environment);
    const own = { PORT: String(port), INTERNAL_PORT: '0', PROCESS_ROLE: 'api', ...changed };
    this.environments.set(module, { ...environment, ...own });
    const instance: Instance = { module, which: 'second', url: local(port), link };
    this.running.set(module, { instance, child: this.spawn(module) });
  }

  private spawn(module: Module): ChildProcess {
    const log = openSync(this.platform.logOf(`${module}-second`), 'a');
    return spawn(process.execPath, [join(this.root, 'apps', module, 'dist/main.js')], {
      cwd: this.root,
      env: this.environments.get(module),
      stdio: ['ignore', log, log],
    });
  }

  private async untilReady({ module, url }: Instance): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS;
    while (Date.now() < deadline && this.running.get(module)?.child.exitCode === null) {
      if (await isReady(url)) return;
      await pause(100);
    }
    throw new Error(
      `The second ${module} did not get ready; see ${this.platform.logOf(`${module}-second`)}.`,
    );
  }
}

/** Whether the process that listens there serves. */
export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}

/** Identity asks its database, all others identity. */
async function linkOf(
  module: Module,
  environment: Record<string, string>,
): Promise<{ link: Link; changed: Record<string, string> }> {
  const name = module === 'identity' ? 'DATABASE_URL' : 'IDENTITY_INTERNAL_URL';
  const target = new URL(environment[name] ?? '');
  const port = Number(target.port);
  const link = await (module === 'identity' ? PostgresLink.to(port) : RegistryLink.to(port));
  target.port = String(link.port);
  return { link, changed: { [name]: target.href.replace(/\/$/, '') } };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
  await ended;
  clearTimeout(late);
}
