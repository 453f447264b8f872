import { Prefetch } from './prefetch.js';

const after = (milliseconds: number): number => {
  const ahead = new Prefetch();
  for (let n = 0; n < 200; n += 1) ahead.took(milliseconds);
  return ahead.perConnection;
};

describe('how many messages are taken ahead for each connection', () => {
  it.each([
    ['few before anything is known', new Prefetch().perConnection, 3],
    ['many for a provider that takes a message in 3 ms', after(3), 64],
    ['as many as wait a quarter of a second', after(31), 8],
    ['few for one that takes a second', after(1_000), 3],
    ['many for one that takes no time at all', after(0), 64],
  ])('%s', (_what, is, expected) => {
    expect(is).toBe(expected);
  });

  it('follows a provider that becomes slow', () => {
    const ahead = new Prefetch();
    for (let n = 0; n < 200; n += 1) ahead.took(2);
    expect(ahead.perConnection).toBe(64);
    for (let n = 0; n < 40; n += 1) ahead.took(500);
    expect(ahead.perConnection).toBe(3);
  });
});
