import { ToastQueue } from './toast-queue.ts';

describe('what is said', () => {
  it('before somebody shows it waits in its order, and asks for that once it is there', () => {
    const queue = new ToastQueue();
    const shown: string[] = [];
    let asked = 0;
    queue.say({ title: 'a' });
    queue.onFirst(() => (asked += 1));
    queue.say({ title: 'b' });
    expect([asked, shown]).toEqual([2, []]);
    const end = queue.shownBy(({ title }) => shown.push(title));
    queue.say({ title: 'c' });
    expect([asked, shown]).toEqual([2, ['a', 'b', 'c']]);
    end();
    queue.say({ title: 'd' });
    expect(shown).toHaveLength(3);
    queue.shownBy(({ title }) => shown.push(title));
    expect(shown).toEqual(['a', 'b', 'c', 'd']);
  });

  it('of a step back that fails is that it failed, and why; of one that succeeds nothing', async () => {
    const queue = new ToastQueue();
    const shown: { title: string; lead?: string; undo?: (() => void) | undefined }[] = [];
    queue.shownBy((toast) => shown.push(toast));
    const failed = (error: unknown) => ({ title: 'not undone', lead: String(error) });
    queue.sayDone('deleted', () => Promise.resolve(), failed);
    shown[0]?.undo?.();
    queue.sayDone('deleted', () => Promise.reject(new Error('gone')), failed);
    shown[1]?.undo?.();
    await new Promise(setImmediate);
    expect(shown.map(({ title, lead }) => [title, lead])).toEqual([
      ['deleted', undefined],
      ['deleted', undefined],
      ['not undone', 'Error: gone'],
    ]);
  });
});
