import vm from 'node:vm';
import type { MessageReview, RenderJob, RenderReply } from '../../vocabulary/rendering/render-job.js';

/**
 * The renderer's process. It holds no secret, no connection and no permission but to read code; its heap is bounded,
 * and whoever started it kills it when a template does not end. It ends with its parent.
 */

// In development and tests this file runs from source, beside sources; built, beside built files.
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const engine = (await import(`./liquid-engine${extension}`)) as typeof import('./liquid-engine.js');
const text = (await import(`./plain-text${extension}`)) as typeof import('./plain-text.js');
const markup = (await import(`./markup-review${extension}`)) as typeof import('./markup-review.js');
const comparison = (await import(`./text-diff${extension}`)) as typeof import('./text-diff.js');

/**
 * Last resort against a loop when the parent is no longer there to kill: the process ends itself. The parent says how
 * long that is, for it must be longer than what itself gives to a machine that is starved.
 */
const LOOP_LIMIT_MS = Number(process.argv[2]);

let current: RenderJob | undefined;
const runner = new vm.Script('globalThis.renderCurrentJob()');
Object.defineProperty(globalThis, 'renderCurrentJob', { value: () => (current ? work(current) : {}) });

function work(job: RenderJob): Record<string, string> {
  switch (job.kind) {
    case 'render':
      return engine.renderParts(job.parts, job.scope, job.strict);
    case 'check':
      return engine.checkParts(job.parts);
    case 'derive_text':
      return { text: text.plainTextOf(job.html) };
    case 'review': {
      const review: MessageReview = {
        uses: engine.variablesOf(job.parts),
        findings: job.html === null ? [] : markup.findingsOf(job.html),
      };
      return { review: JSON.stringify(review) };
    }
    case 'compare':
      return comparison.unifiedOf(job.pairs);
    case 'compile_mjml':
      throw new Error('MJML is compiled in a process of its own');
  }
}

function answer(job: RenderJob): RenderReply {
  current = job;
  try {
    const parts = runner.runInThisContext({ timeout: LOOP_LIMIT_MS }) as Record<string, string>;
    return { id: job.id, cpu: cpuMilliseconds(), parts };
  } catch (error) {
    if (error instanceof engine.LiquidFailure)
      return { id: job.id, cpu: cpuMilliseconds(), failure: error.reason };
    const looped = (error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    if (looped) process.exit(1);
    const detail =
      error instanceof RangeError
        ? 'The template is nested too deep.'
        : 'The template could not be rendered.';
    return { id: job.id, cpu: cpuMilliseconds(), failure: { code: 'render_failed', part: null, detail } };
  }
}

function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

process.on('message', (job: RenderJob) => process.send?.(answer(job)));
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
process.send?.('ready');
