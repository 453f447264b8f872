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
  testResults: {
    /** The file's path. */
    name: string;
    /** Why the file as a whole did not run. */
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
  }[];
}

/** What a test throws where this machine lacks a program: the name of the error (infra/kit/missing-program.ts). */
const MISSING = /\bMissingProgram: (.*)/;

/**
 * What could not be judged because this machine lacks a program: each test, or a file as a whole, with what is missing.
 * What fails after that, in a file's clean-up, follows from it.
 */
export function notJudged(result: JestResult): string[] {
  return result.testResults.flatMap(({ name, message, assertionResults }) => {
    const tests = assertionResults.map(({ status, fullName, failureMessages }) => ({
      title: fullName,
      reason: status === 'failed' ? MISSING.exec((failureMessages ?? []).join('\n'))?.[1] : undefined,
    }));
    const all = tests.length > 0 ? tests : [{ title: name, reason: MISSING.exec(message)?.[1] }];
    return all.flatMap(({ title, reason }) => (reason === undefined ? [] : `${title}: ${reason}`));
  });
}

/** Files whose clean-up failed after something in them could not be judged, which Jest counts as files that did not run. */
function unclean(result: JestResult): number {
  return result.testResults.filter(
    (file) =>
      file.assertionResults.length > 0 &&
      file.message.includes('Test suite failed to run') &&
      notJudged({ ...result, testResults: [file] }).length > 0,
  ).length;
}

/**
 * Jest's totals. A suite that did not run is one failure; what could not be judged on this machine is skipped. Where
 * nothing says what went wrong although Jest failed (no result, a failing teardown), that is one failure too: a red run is
 * never counted green.
 */
export function jestTotals(result: JestResult | undefined, status: number | null): Totals {
  if (!result) return { passed: 0, failed: 1, skipped: 0 };
  const lacking = notJudged(result).length;
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites - lacking - unclean(result);
  return {
    passed: result.numPassedTests,
    failed: failed === 0 && lacking === 0 && status !== 0 ? 1 : failed,
    skipped: result.numPendingTests + result.numTodoTests + lacking,
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
