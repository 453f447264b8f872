import { MissingProgram } from '@customer-platform/kit/missing-program.ts';
import { isGreen, jestTotals, line, notJudged, sum } from './totals.ts';

const result = {
  numPassedTests: 5,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
  testResults: [],
};

describe('the totals of a run', () => {
  it('ends with passed and failed, and names skipped ones only where there are some', () => {
    expect(line({ passed: 3, failed: 1, skipped: 0 })).toBe('3 passed, 1 failed');
    expect(line({ passed: 3, failed: 0, skipped: 2 })).toBe('3 passed, 0 failed, 2 skipped');
  });

  it('counts a suite that could not run as a failure', () => {
    expect(jestTotals({ ...result, numRuntimeErrorTestSuites: 2 }, 1)).toMatchObject({
      passed: 5,
      failed: 2,
    });
  });

  it('counts a failure when Jest fails without saying which test', () => {
    expect(jestTotals(result, 1)).toMatchObject({ passed: 5, failed: 1 });
    expect(jestTotals(undefined, 0)).toMatchObject({ passed: 0, failed: 1 });
  });

  it('counts pending and todo tests as skipped', () => {
    expect(jestTotals({ ...result, numPendingTests: 1, numTodoTests: 2 }, 0)).toEqual({
      passed: 5,
      failed: 0,
      skipped: 3,
    });
  });

  it('counts what this machine lacks a program for as skipped, by name, and every other failure as one', () => {
    const missing = new MissingProgram('There is no Redis for darwin-arm64.').stack ?? '';
    const failing = (fullName: string, ...failureMessages: string[]) => ({
      status: 'failed',
      fullName,
      failureMessages,
    });
    const file = { name: 'a.spec.ts', message: '' };
    const lacking = {
      ...result,
      numFailedTests: 1,
      numRuntimeErrorTestSuites: 1,
      testResults: [
        { ...file, assertionResults: [failing('limits in Redis', missing, 'TypeError: of the clean-up')] },
        {
          ...file,
          name: 'b.spec.ts',
          message: `● Test suite failed to run\n${missing}`,
          assertionResults: [],
        },
      ],
    };
    expect(notJudged(lacking)).toEqual([
      'limits in Redis: There is no Redis for darwin-arm64.',
      'b.spec.ts: There is no Redis for darwin-arm64.',
    ]);
    expect(jestTotals(lacking, 1)).toEqual({ passed: 5, failed: 0, skipped: 2 });
    const message = '● Test suite failed to run\n\nTypeError: of the clean-up';
    const unclean = {
      ...lacking,
      testResults: [{ ...file, message, assertionResults: [failing('limits in Redis', missing)] }],
    };
    expect(jestTotals(unclean, 1)).toEqual({ passed: 5, failed: 0, skipped: 1 });
    const broken = {
      ...result,
      numFailedTests: 1,
      testResults: [{ ...file, assertionResults: [failing('limits', 'Error: expected 1')] }],
    };
    expect(jestTotals(broken, 1)).toEqual({ passed: 5, failed: 1, skipped: 0 });
  });

  it('adds the parts up', () => {
    expect(sum([jestTotals(result, 0), { passed: 1, failed: 1, skipped: 0 }])).toEqual({
      passed: 6,
      failed: 1,
      skipped: 0,
    });
  });

  it('is not green when nothing was tested', () => {
    expect(isGreen({ passed: 0, failed: 0, skipped: 4 })).toBe(false);
    expect(isGreen({ passed: 1, failed: 0, skipped: 0 })).toBe(true);
    expect(isGreen({ passed: 9, failed: 1, skipped: 0 })).toBe(false);
  });
});
