/** A part of a whole run, and the seconds of processor time that it may take on two cores of CI. */
export const BUDGETS = { checks: 330, tests: 2_700 } as const;

/** Tests of a whole run, checks included: fewer means that some were lost. Raised with the tests that come. */
export const TESTS_AT_LEAST = 10_700;

/** What a part used beside what it may; a machine's processors are as fast as they are, so that nothing fails by it. */
export function spent(part: keyof typeof BUDGETS, seconds: number): string {
  const budget = BUDGETS[part];
  const over = seconds > budget ? `, over it by ${((seconds / budget - 1) * 100).toFixed(0)} %` : '';
  return `${part}: ${seconds.toFixed(0)} s of processor time (budget ${String(budget)} s${over})`;
}

/** Why a whole run has too few tests; undefined where it has enough. */
export function tooFew(tests: number): string | undefined {
  if (tests >= TESTS_AT_LEAST) return undefined;
  return `${String(tests)} tests ran, ${String(TESTS_AT_LEAST)} are expected at least (infra/test/budgets.ts)`;
}
