/** What a run, or a part of one, came to. */
export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

/** The fields of Jest's JSON result that count. */
export interface JestResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  /** Suites that did not come to run a test, by a syntax error, say. */
  numRuntimeErrorTestSuites: number;
}

/**
 * Jest's totals. A suite that did not run is one failure. Where nothing says what went wrong although Jest failed
 * (no result, a failing teardown), that is one failure too: a red run is never counted green.
 */
export function jestTotals(result: JestResult | undefined, status: number | null): Totals {
  if (!result) return { passed: 0, failed: 1, skipped: 0 };
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  return {
    passed: result.numPassedTests,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

export function sum(all: Totals[]): Totals {
  return all.reduce(
    (total, { passed, failed, skipped }) => ({
      passed: total.passed + passed,
      failed: total.failed + failed,
      skipped: total.skipped + skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** The last line of a run. */
export function line({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A run that fails nothing because it tests nothing has failed. */
export function isGreen({ passed, failed }: Totals): boolean {
  return failed === 0 && passed > 0;
}
