/**
 * How many draws of a property a run makes: few in every run, many before a release (`PROPERTIES=full`). Both draw from the
 * run's seed, which infra/test/runner gives to fast-check: one that stays, or before a release a fresh one that is printed.
 */
export function draws(few: number, many: number): { numRuns: number; endOnFailure: true } {
  return { numRuns: process.env['PROPERTIES'] === 'full' ? many : few, endOnFailure: true };
}
