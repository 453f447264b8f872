import type { ModuleName } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { AppProcess, buildAll, freePorts, runScript } from './app-process.js';
import { Caller } from './caller.js';
import { environmentOf } from './test-app.js';
import type { TestDatabase } from './test-database.js';
import type { TestRegistry } from './test-registry.js';

/** What a test starts as a process. */
interface TestProcessOptions {
  module: ModuleName;
  registry: TestRegistry;
  database: TestDatabase;
  /** Variables beyond the usual ones, or instead of them. */
  env?: Record<string, string>;
}

/** A module in a process of its own, which can die as processes do; it keeps its addresses when it is started again. */
export interface TestProcess {
  url: string;
  internalUrl: string;
  /** Everything that the process running now has written. */
  log(): string;
  /** A client whose key has these permissions in the organization. */
  as(organizationId: string, permissions: readonly Permission[]): Caller;
  /** kill -9; resolves when the process is gone. */
  crash(): Promise<void>;
  /** Starts it again after a crash; resolves when it serves. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** Runs a command of the module, such as `migrate`, with the same environment; throws unless it ends with 0. */
  command(...words: string[]): Promise<string>;
}

/** Builds what is not built and starts a module from its `dist`, as its image does. Resolves when it serves. */
export async function startTestProcess(options: TestProcessOptions): Promise<TestProcess> {
  const { module, registry, database } = options;
  await buildAll();
  const [port = 0, internalPort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${String(port)}`;
  const env = {
    ...environmentOf(module, registry, database),
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    HOST: '127.0.0.1',
    ...options.env,
  };
  const start = (): AppProcess =>
    new AppProcess(module, `apps/${module}/dist/main.js`, env, `${url}/health/ready`);
  let running = start();
  await running.ready();
  return {
    url,
    internalUrl: `http://127.0.0.1:${String(internalPort)}`,
    log: () => running.log,
    as: (organizationId, permissions) =>
      new Caller(url, registry.key({ organizationId, permissions }), () => !registry.isDown, false),
    crash: () => running.crash(),
    restart: async () => {
      running = start();
      await running.ready();
    },
    stop: () => running.stop(),
    command: (...words) => runScript(`apps/${module}/dist/platform.js`, words, env),
  };
}
