import { arrivalsOf, judgeArrivals } from './arrivals.ts';

const mail = (address: string, milliseconds: number, complete = true) => ({
  address: address.replace('NOW', String(Math.floor(performance.timeOrigin))),
  at: milliseconds + (Math.floor(performance.timeOrigin) - performance.timeOrigin),
  correlationId: undefined,
  complete,
});

const mails = [
  mail('load-a-sent-0-NOW@example.com', 100),
  mail('load-a-sent-1-NOW@example.com', 1_100),
  mail('load-a-stopped-0-NOW@example.com', 5),
  mail('load-a-sent-2-NOW@example.com', 5, false),
  mail('load-b-sent-0-NOW@example.com', 5),
  mail('somebody@example.com', 5),
];

describe('mails of a run', () => {
  it('are those that came whole, with the time they took', () => {
    expect(arrivalsOf(mails, 'a').map(({ kind, late }) => [kind, Math.round(late)])).toEqual([
      ['sent', 100],
      ['sent', 1_100],
      ['stopped', 5],
    ]);
  });

  it.each([
    ['as many as were accepted', mails, 2, 0],
    ['one too few', mails, 3, 1],
    ['one twice', [...mails, mail('load-a-sent-1-NOW@example.com', 1_200)], 2, 1],
    ['one that nobody accepted', mails, 1, 1],
    ['a suppressed one twice', [...mails, mail('load-a-stopped-0-NOW@example.com', 6)], 2, 1],
  ])('%s', (_what, handOffs, accepted, wrong) => {
    expect(judgeArrivals(arrivalsOf(handOffs, 'a'), accepted, 1).wrong).toBe(wrong);
  });
});
