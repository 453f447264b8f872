import { BUDGETS, spent, TESTS_AT_LEAST, tooFew } from './budgets.ts';

describe('a whole run', () => {
  it('tells what a part used beside its budget, and by how much it is over', () => {
    expect(spent('checks', BUDGETS.checks)).toBe(
      `checks: ${BUDGETS.checks} s of processor time (budget ${BUDGETS.checks} s)`,
    );
    expect(spent('tests', BUDGETS.tests * 1.5)).toContain('over it by 50 %');
  });

  it('fails when tests were lost', () => {
    expect(tooFew(TESTS_AT_LEAST)).toBeUndefined();
    expect(tooFew(TESTS_AT_LEAST - 1)).toContain('are expected at least');
  });
});
