/** A program that a test needs is not on this machine, and cannot be had. The sentence says which, and the remedy. */
export class MissingProgram extends Error {
  static {
    // By this name a run of tests tells what it could not judge from what failed (infra/test/totals.ts).
    this.prototype.name = 'MissingProgram';
  }
}

/**
 * Describes what needs a program of the machine. Where it is missing, one skipped test takes the place, named after what
 * is missing: it is counted and told, and fails nothing. Every other error fails the file.
 */
export async function describeWith<Program>(
  title: string,
  find: () => Promise<Program>,
  tests: (program: Program) => void,
): Promise<void> {
  let program: Program;
  try {
    program = await find();
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error;
    it.skip(`${title}: ${error.message}`, () => undefined);
    return;
  }
  describe(title, () => tests(program));
}
