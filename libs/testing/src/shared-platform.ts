import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { startChromium } from './chromium.js';
import { PlatformUnderTest, type PlatformAddress } from './platform-under-test.js';
import { requiredVariable } from './required-variable.js';

/** What the walks of one worker share. It is kept beside the modules, which each spec file evaluates anew. */
interface Shared {
  /** The platform is there for this worker as long as it is open. */
  lease?: Promise<Lease>;
  browser?: Promise<Browser>;
}

interface Lease {
  readonly socket: Socket;
  readonly address: PlatformAddress;
}

const SHARED = Symbol.for('customer-platform.shared-by-walks');
/** What the runner calls with the path of each spec file before it begins (infra/test/runner). */
const BEFORE_FILE = Symbol.for('customer-platform.before-file');
/** What a run calls at its end that has one process for all (infra/test/global-teardown.ts). */
const AFTER_RUN = Symbol.for('customer-platform.after-run');

interface Worker {
  [SHARED]?: Shared;
  [BEFORE_FILE]?: (path: string) => Promise<void>;
  [AFTER_RUN]?: () => Promise<void>;
}

/**
 * The platform, its Console included, that walks of all workers use at once, each with organizations of its own: the first
 * one starts it (infra/test/platform-service.ts). It ends when no worker has a walk left.
 */
export async function sharedPlatform(): Promise<PlatformUnderTest> {
  const shared = ofThisWorker();
  shared.lease ??= lease();
  try {
    return PlatformUnderTest.at((await shared.lease).address);
  } catch (error) {
    delete shared.lease;
    throw error;
  }
}

/** The browser that all walks of this worker use, each by contexts of its own. */
export async function sharedBrowser(): Promise<Browser> {
  const shared = ofThisWorker();
  const running = await shared.browser;
  if (!running?.isConnected()) shared.browser = startChromium();
  return shared.browser as Promise<Browser>;
}

async function lease(): Promise<Lease> {
  const socket = connect(Number(requiredVariable('TEST_PLATFORM_PORT')), '127.0.0.1');
  const [line] = (await once(createInterface({ input: socket }), 'line')) as [string];
  const told = JSON.parse(line) as PlatformAddress | { error: string };
  if ('error' in told) {
    socket.destroy();
    throw new Error(`The platform of this run does not start:\n${told.error}`);
  }
  socket.resume();
  return { socket, address: told };
}

function ofThisWorker(): Shared {
  const worker = globalThis as Worker;
  worker[BEFORE_FILE] = async (path) => {
    if (!path.endsWith('.e2e-spec.ts')) await endShared(worker);
  };
  worker[AFTER_RUN] = () => endShared(worker);
  worker[SHARED] ??= {};
  return worker[SHARED];
}

async function endShared(worker: Worker): Promise<void> {
  const { lease: held, browser } = worker[SHARED] ?? {};
  delete worker[SHARED];
  delete worker[BEFORE_FILE];
  delete worker[AFTER_RUN];
  await (await browser)?.close();
  (await held)?.socket.destroy();
}
