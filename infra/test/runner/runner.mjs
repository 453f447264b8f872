import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import fc from 'fast-check';
import { noteCoverage, watchCoverage } from './coverage.mjs';
import { processorSeconds } from './processor-time.mjs';
import { beginFile, GLOBALS, loadSourcesOf, sourceMaps } from './sources.mjs';
import { rememberWorker, restoreWorker } from './worker-state.mjs';

const require = createRequire(import.meta.url);
const CIRCUS = join(dirname(require.resolve('jest-circus')), 'jestAdapterInit.js');
/** Where jest-circus keeps, beside its module, what outlives a file in one process. */
const HANDLERS = Symbol.for('EVENT_HANDLERS');
const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
/** Properties draw the same in every run, unless this says from where: no draw of chance stops a release. */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_261_121) });
/** What files of the worker share is told here which comes next (libs/testing/src/shared-platform.ts). */
const BEFORE_FILE = Symbol.for('customer-platform.before-file');

/**
 * Runs a spec file in the worker's own process by Jest's own test functions. Packages, libraries and the sources of apps are
 * evaluated once for all files of the worker; specs, fixtures and the testing library anew for each.
 */
export async function runSpecFile(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  await globalThis[BEFORE_FILE]?.(testPath);
  const before = rememberWorker();
  const started = processorSeconds();
  const circus = freshCircus();
  globalThis.console = environment.global.console;
  jestExpect.setState({
    assertionCalls: 0,
    isExpectingAssertions: false,
    numPassingAsserts: 0,
    suppressedErrors: [],
  });
  await watchCoverage();
  loadSourcesOf(config.rootDir);
  const query = beginFile();
  try {
    const { globals, snapshotState } = await circus.initialize({
      config,
      environment,
      globalConfig,
      localRequire: require,
      parentProcess: process,
      runtime,
      sendMessageToJest,
      setGlobalsForRuntime: () => undefined,
      testPath,
    });
    globalThis[GLOBALS] = { ...globals, expect: jestExpect, jest: jestObject(environment) };
    Object.assign(globalThis, { ...globals, expect: jestExpect });
    const now = Date.now();
    await import(pathToFileURL(testPath).href + query);
    for (const [url, map] of sourceMaps) runtime.getSourceMaps().set(url, map);
    const results = await circus.runAndTransformResultsToJestFormat({
      config,
      globalConfig,
      setupAfterEnvPerfStats: { setupAfterEnvStart: now, setupAfterEnvEnd: now },
      testPath,
    });
    noteSnapshots(results, snapshotState);
    await noteCoverage(config.rootDir, testPath, results, processorSeconds() - started);
    return { ...results, processorSeconds: processorSeconds() - started };
  } finally {
    environment.moduleMocker.restoreAllMocks();
    environment.fakeTimersModern.dispose();
    restoreWorker(before);
  }
}

export { runSpecFile as default };

/** Jest's test functions with no test yet: they keep their tests where their module is evaluated. */
function freshCircus() {
  Reflect.deleteProperty(globalThis, HANDLERS);
  Reflect.deleteProperty(globalThis, TIMEOUT);
  Reflect.deleteProperty(require.cache, CIRCUS);
  return require(CIRCUS);
}

/** The functions of `jest` that need none of its module loading. */
function jestObject({ moduleMocker: mocks, fakeTimersModern: timers }) {
  return {
    fn: mocks.fn.bind(mocks),
    spyOn: mocks.spyOn.bind(mocks),
    restoreAllMocks: () => mocks.restoreAllMocks(),
    setTimeout: (milliseconds) => void (globalThis[TIMEOUT] = milliseconds),
    useFakeTimers: (settings) => timers.useFakeTimers(settings),
    useRealTimers: () => timers.useRealTimers(),
    clearAllTimers: () => timers.clearAllTimers(),
    advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
    advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
  };
}

function noteSnapshots(results, snapshots) {
  for (const { fullName, status } of results.testResults)
    if (status === 'pending' || status === 'failed') snapshots.markSnapshotsAsCheckedForTest(fullName);
  const unchecked = snapshots.getUncheckedCount();
  const uncheckedKeys = [...snapshots.getUncheckedKeys()];
  if (unchecked > 0) snapshots.removeUncheckedKeys();
  const { deleted: fileDeleted } = snapshots.save();
  const { added, matched, unmatched, updated } = snapshots;
  const counts = {
    fileDeleted,
    added,
    matched,
    unmatched,
    updated,
    unchecked: fileDeleted ? 0 : unchecked,
    uncheckedKeys,
  };
  Object.assign(results.snapshot, counts);
}
