/** A program that is needed is not on this machine, and cannot be had. The sentence says which, and the remedy. */
export class MissingProgram extends Error {
  static {
    // By this name a run of tests tells what it could not judge from what failed (infra/test/totals.ts).
    this.prototype.name = 'MissingProgram';
  }
}
