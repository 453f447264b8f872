import { jest } from '@jest/globals';
import { RenderProcess, type Ending, type Question } from './render-process.js';
import { LIQUID_PROFILE } from './render-profile.js';
import type { RenderJob, RenderReply } from '../../vocabulary/rendering/render-job.js';

describe('RenderProcess', () => {
  const started: RenderProcess[] = [];
  afterEach(() => started.splice(0).forEach((process) => process.kill()));

  function start(profile = LIQUID_PROFILE): { process: RenderProcess; ending: Promise<Ending> } {
    let resolve: (ending: Ending) => void = () => undefined;
    const ending = new Promise<Ending>((done) => (resolve = done));
    const process = new RenderProcess(
      profile,
      () => undefined,
      (_process, end) => resolve(end),
    );
    started.push(process);
    return { process, ending };
  }

  function ask(process: RenderProcess, id: number, html: string): Promise<RenderReply> {
    return new Promise((resolve) => {
      const job: RenderJob = { id, kind: 'derive_text', html };
      const lane = { organization: 'shop', tenant: 'shop' };
      const question: Question = { job, ...lane, tries: 0, settle: resolve, fail: () => undefined };
      process.ask(question);
    });
  }

  it('answers in the order asked', async () => {
    const { process } = start();
    const replies = await Promise.all([1, 2, 3].map((id) => ask(process, id, `<p>${id}</p>`)));
    expect(replies.map((reply) => reply.id)).toEqual([1, 2, 3]);
    expect(replies[2]).toMatchObject({ parts: { text: '3' } });
  });

  it('is killed when it gets no turn; nothing is said of the template, and the younger ones come back untouched', async () => {
    const { process, ending } = start();
    await ask(process, 1, 'warm');
    if (process.pid === undefined) throw new Error('the process did not start');
    globalThis.process.kill(process.pid, 'SIGSTOP');
    void ask(process, 2, 'a');
    void ask(process, 3, 'b');
    const end = await ending;
    expect(end.reason).toBeUndefined();
    expect(end.blamed?.job.id).toBe(2);
    expect(end.untouched.map((question) => question.job.id)).toEqual([3]);
  });

  it('is killed, too, when its timer has rung a moment early', async () => {
    const { process, ending } = start();
    await ask(process, 1, 'warm');
    if (process.pid === undefined) throw new Error('the process did not start');
    globalThis.process.kill(process.pid, 'SIGSTOP');
    const now = performance.now.bind(performance);
    const ahead = jest.spyOn(performance, 'now').mockImplementation(() => now() + 20);
    void ask(process, 2, 'a');
    ahead.mockRestore();
    expect((await ending).blamed?.job.id).toBe(2);
  });

  it('ends when its heap is full, and says so', async () => {
    const { process, ending } = start();
    void ask(process, 1, '<p>'.repeat(6_000_000));
    const end = await ending;
    expect(end.blamed?.job.id).toBe(1);
    expect(end.reason).toMatchObject({ code: 'render_limit_exceeded' });
  });

  it('ends by itself where nobody stops it, later than whoever started it would', async () => {
    const { process, ending } = start({ ...LIQUID_PROFILE, milliseconds: 60_000, wallMilliseconds: 1 });
    void ask(process, 1, '<p>x</p>'.repeat(100_000));
    expect(await ending).toMatchObject({ blamed: { job: { id: 1 } }, reason: undefined });
  });

  it('blames nobody for an end that came from outside', async () => {
    const { process, ending } = start();
    await ask(process, 1, 'warm');
    process.kill();
    expect(await ending).toEqual({ blamed: undefined, reason: undefined, untouched: [] });
  });
});
