import { FairQueue, type InLane } from './fair-queue.js';
import { LaneAllowance } from './lane-allowance.js';

interface Numbered extends InLane {
  readonly n: number;
}

describe('FairQueue', () => {
  const items = (tenant: string, count: number, organization = tenant): Numbered[] =>
    Array.from({ length: count }, (_, n) => ({ tenant, organization, n }));
  const take = (queue: FairQueue<Numbered>, count: number): string =>
    Array.from({ length: count }, () => queue.take(() => true)?.organization).join('');

  it('lets a newcomer go next but one, however many wait of another tenant', () => {
    const queue = new FairQueue<Numbered>();
    for (const item of items('a', 1_000)) queue.add(item);
    for (const item of items('b', 2)) queue.add(item);
    expect(take(queue, 6)).toBe('ababaa');
  });

  it('gives a tenant of many organizations the turns of one, and its organizations turns in them', () => {
    const queue = new FairQueue<Numbered>();
    for (const child of ['x', 'y', 'z']) for (const item of items('a', 2, child)) queue.add(item);
    for (const item of items('b', 4)) queue.add(item);
    expect([queue.size, queue.sizeOfTenant('a'), queue.sizeOf({ tenant: 'a', organization: 'y' })]).toEqual([
      10, 6, 2,
    ]);
    expect(take(queue, 10)).toBe('xbybzbxbyz');
    expect([queue.size, queue.isEmpty]).toEqual([0, true]);
  });

  it('keeps the order of an organization, passes over who must wait, and gives back what was taken', () => {
    const queue = new FairQueue<Numbered>();
    for (const item of [...items('a', 2), ...items('b', 2)]) queue.add(item);
    const first = queue.take((tenant) => tenant !== 'a');
    expect(first).toMatchObject({ tenant: 'b', n: 0 });
    if (first) queue.putBack(first);
    expect([queue.take(() => true), queue.take((tenant) => tenant === 'b')]).toMatchObject([
      { tenant: 'b', n: 0 },
      { tenant: 'b', n: 1 },
    ]);
    expect([queue.take(() => true), queue.take(() => true)]).toMatchObject([
      { tenant: 'a', n: 0 },
      { tenant: 'a', n: 1 },
    ]);
    expect([queue.take(() => true), queue.isEmpty]).toEqual([undefined, true]);
  });
});

describe('Pace', () => {
  it('gives one ahead until a tenant turns out to be quick, and one again after it was slow', () => {
    const allowance = new LaneAllowance();
    expect(allowance.of('a')).toBe(1);
    for (let n = 0; n < 10; n += 1) allowance.note('a', 1);
    expect(allowance.of('a')).toBe(4);
    allowance.note('a', 500);
    allowance.note('b', Infinity);
    expect([allowance.of('a'), allowance.of('b')]).toEqual([1, 1]);
  });
});
