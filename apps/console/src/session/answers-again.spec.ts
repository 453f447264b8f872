import { answersAgain } from './answers-again.ts';

const asking =
  (...answers: boolean[]) =>
  (): Promise<boolean> =>
    Promise.resolve(answers.shift() ?? false);

describe('a platform that did not answer', () => {
  it('is there again once it was silent and answers', async () => {
    expect(await answersAgain(new AbortController().signal, asking(false, false, true), 0)).toBe(true);
  });

  it('is not waited for where it answers all along, nor by a page that is gone', async () => {
    const page = new AbortController();
    let asked = 0;
    const ask = (): Promise<boolean> => {
      asked += 1;
      if (asked === 5) page.abort();
      return Promise.resolve(true);
    };
    expect(await answersAgain(page.signal, ask, 0)).toBe(false);
    expect(asked).toBe(5);
  });
});
