import type { Browser } from 'playwright-core';
import { startChromium } from './chromium.js';
import { PlatformUnderTest } from './platform-under-test.js';

/** What the walks of one worker share. It is kept beside the modules, which each spec file evaluates anew. */
interface Shared {
  platform?: Promise<PlatformUnderTest>;
  browser?: Promise<Browser>;
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
 * The platform, its Console included, that all walks of this worker use: the first one starts it. Each walk makes
 * organizations of its own. A process that an earlier walk has ended runs again. It ends before the first file that is no
 * walk, or with the worker.
 */
export async function sharedPlatform(): Promise<PlatformUnderTest> {
  const shared = ofThisWorker();
  shared.platform ??= PlatformUnderTest.start({}, { pages: true });
  try {
    const platform = await shared.platform;
    await platform.restartEnded();
    return platform;
  } catch (error) {
    delete shared.platform;
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
  const { platform, browser } = worker[SHARED] ?? {};
  delete worker[SHARED];
  delete worker[BEFORE_FILE];
  delete worker[AFTER_RUN];
  await (await browser)?.close();
  await (await platform)?.stop();
}
