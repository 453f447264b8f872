import type { RenderJob, RenderReply } from '../../vocabulary/rendering/render-job.js';

/**
 * The MJML compiler's process, with no more rights than the renderer's: it reads code, and its heap and time are
 * bounded by whoever started it. It ends with its parent.
 */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const engine = (await import(`./mjml-engine${extension}`)) as typeof import('./mjml-engine.js');

/** One after the other: the clock of its parent runs for the oldest. */
let last = Promise.resolve();

async function answer(job: RenderJob): Promise<RenderReply> {
  const { id } = job;
  try {
    if (job.kind !== 'compile_mjml') throw new Error(`This process does not ${job.kind}`);
    const html = await engine.compileMjml(job.mjml);
    return { id, cpu: cpuMilliseconds(), parts: { html } };
  } catch (error) {
    if (error instanceof engine.MjmlFailure) return { id, cpu: cpuMilliseconds(), failure: error.reason };
    const detail = 'The MJML could not be compiled.';
    return { id, cpu: cpuMilliseconds(), failure: { code: 'template_invalid', part: 'mjml', detail } };
  }
}

function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

process.on('message', (job: RenderJob) => {
  last = last.then(async () => {
    process.send?.(await answer(job));
  });
});
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
process.send?.('ready');
