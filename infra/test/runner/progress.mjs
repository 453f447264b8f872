const SLOWEST = 10;
const EVERY_MS = 30_000;

/**
 * Tells how far a run of many files is, how to run alone what failed, and at its end what cost most: processor time by
 * file, and how long the workers had nothing to do.
 */
export class Progress {
  constructor() {
    this.files = [];
    this.saidAt = Date.now();
    this.startedAt = Date.now();
  }

  onRunStart({ numTotalTestSuites }) {
    this.total = numTotalTestSuites;
    this.startedAt = Date.now();
  }

  onTestResult({ path, context }, result) {
    const file = path.slice(context.config.rootDir.length + 1);
    const { start = 0, end = 0 } = result.perfStats;
    this.files.push({ file, seconds: (end - start) / 1000, processor: result.processorSeconds ?? 0 });
    if (result.numFailingTests > 0 || result.testExecError)
      console.log(`✘ ${file}\n    Again: npm run jest -- ${file}`);
    if (this.total > SLOWEST && Date.now() - this.saidAt >= EVERY_MS) this.sayWhere();
  }

  onRunComplete(_contexts, results) {
    if (this.total <= SLOWEST) return;
    const passed = (Date.now() - this.startedAt) / 1000;
    const busy = this.files.reduce((sum, { seconds }) => sum + seconds, 0);
    const processor = this.files.reduce((sum, each) => sum + each.processor, 0);
    const idle = Math.max(0, passed * WORKERS - busy);
    console.log(
      `\n${String(results.numTotalTestSuites)} files in ${seconds(passed)}; ${seconds(processor)} of processor time in the workers and what they ended; workers idle for ${seconds(idle)}. What took most of it:`,
    );
    const dearest = this.files.toSorted((one, other) => other.processor - one.processor).slice(0, SLOWEST);
    for (const { file, ...took } of dearest)
      console.log(
        `  ${seconds(took.processor).padStart(8)} of ${seconds(took.seconds).padStart(8)}  ${file}`,
      );
  }

  sayWhere() {
    this.saidAt = Date.now();
    const done = this.files.length;
    const left = ((Date.now() - this.startedAt) / done) * (this.total - done);
    console.log(`${String(done)} of ${String(this.total)} files, about ${seconds(left / 1000)} left`);
  }
}

export { Progress as default };

/** As many as jest.config.mjs says. */
const WORKERS = 3;

function seconds(value) {
  return `${value.toFixed(1)} s`;
}
