import { TurnLine } from './turn-line.js';

interface Item {
  readonly organization_id: string;
}

/** Organizations are called after their tenants: `a1`, `a2`. */
const TENANTS = {
  whoseTurn: (organizationId: string): string | undefined =>
    organizationId.startsWith('?') ? undefined : organizationId.slice(0, 1),
};
const MANY = Array.from({ length: 1_000 }, (_, at) => `a${String(at)}`);

let now: number;
beforeEach(() => {
  now = 0;
});

/** A job whose organizations have so many items each; of some each fails after a while. */
class Job {
  readonly line = new TurnLine(TENANTS, () => now);
  readonly done: string[] = [];
  readings = 0;
  readonly fails = new Map<string, number>();

  constructor(readonly left: Map<string, number>) {}

  read(): Promise<string[]> {
    this.readings += 1;
    return Promise.resolve([...this.left].filter(([, count]) => count > 0).map(([id]) => id));
  }

  private find(ids: readonly string[]): Promise<Item | undefined> {
    const id = ids.find((one) => (this.left.get(one) ?? 0) > 0);
    return Promise.resolve(id === undefined ? undefined : { organization_id: id });
  }

  async runNext(): Promise<boolean> {
    let item: Item | undefined;
    const work = async (): Promise<void> => {
      item = await this.line.next(
        () => this.read(),
        (ids) => this.find(ids),
      );
      if (item) this.do(item.organization_id);
    };
    try {
      await this.line.note(() => item?.organization_id, work);
    } catch (error) {
      expect(error).toEqual(new Error('fails'));
    }
    return item !== undefined;
  }

  do(id: string): void {
    this.done.push(id);
    this.left.set(id, (this.left.get(id) ?? 0) - 1);
    const tookMs = this.fails.get(id);
    if (tookMs === undefined) return;
    now += tookMs;
    throw new Error('fails');
  }
}

describe('a line of turns', () => {
  it('gives the one neighbour of a tenant with a thousand organizations every other turn, by one reading', async () => {
    const job = new Job(new Map([...MANY, 'b1'].map((id) => [id, 3])));
    for (let turn = 0; turn < 6; turn += 1) expect(await job.runNext()).toBe(true);
    expect(job.done).toEqual(['a0', 'b1', 'a1', 'b1', 'a2', 'b1']);
    expect(job.readings).toBe(1);
  });

  it('gives one turn together to those of whom nobody knows the tenant', async () => {
    const unknown = Array.from({ length: 1_000 }, (_, at) => `?${String(at)}`);
    const job = new Job(new Map([...unknown, 'b1'].map((id) => [id, 3])));
    for (let turn = 0; turn < 4; turn += 1) await job.runNext();
    expect(job.done).toEqual(['?0', 'b1', '?1', 'b1']);
  });

  it('comes to whoever has waited since, and goes on where it was', async () => {
    const job = new Job(new Map(['a1', 'a2', 'a3'].map((id) => [id, 9])));
    await job.runNext();
    job.left.set('b1', 9);
    await job.runNext();
    now = 1_000;
    await job.runNext();
    await job.runNext();
    expect(job.done).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('reads less often what takes long to be read', async () => {
    const job = new Job(new Map([['a1', 9]]));
    job.read = () => {
      now += 1_000;
      job.readings += 1;
      return Promise.resolve(['a1']);
    };
    await job.runNext();
    now += 9_999;
    await job.runNext();
    expect(job.readings).toBe(1);
    now += 1;
    await job.runNext();
    expect(job.readings).toBe(2);
  });

  it('has neighbours come first for twice as long as a failure took, of whichever organization of a tenant', async () => {
    const job = new Job(new Map([...MANY, 'b1'].map((id) => [id, 3])));
    for (const id of MANY) job.fails.set(id, 400);
    await job.runNext();
    await job.runNext();
    await job.runNext();
    now += 800;
    await job.runNext();
    expect(job.done).toEqual(['a0', 'b1', 'b1', 'a1']);
    // Where nobody else waits it loses nothing.
    job.left.set('b1', 0);
    await job.runNext();
    expect(job.done.at(-1)).toBe('a2');
  });

  it('has siblings come before an organization whose piece failed', async () => {
    const job = new Job(
      new Map([
        ['a1', 9],
        ['a2', 2],
      ]),
    );
    job.fails.set('a1', 400);
    for (let turn = 0; turn < 4; turn += 1) await job.runNext();
    expect(job.done).toEqual(['a1', 'a2', 'a2', 'a1']);
  });

  it('says that there is nothing where all that waits is in other hands, and passes over those', async () => {
    const job = new Job(new Map([['a1', 0]]));
    job.read = () => Promise.resolve([...MANY, 'b1']);
    expect(await job.runNext()).toBe(false);
    job.left.set('b1', 1);
    expect(await job.runNext()).toBe(true);
  });

  it('gives turns to many together, to the neighbour each time', async () => {
    const job = new Job(new Map([...MANY, 'b1'].map((id) => [id, 3])));
    const some = (): Promise<string[]> => job.line.some(() => job.read(), 3);
    expect([await some(), await some(), await some()]).toEqual([
      ['a0', 'b1', 'a1'],
      ['b1', 'a2', 'a3'],
      ['b1', 'a4', 'a5'],
    ]);
  });

  it.each([
    ['tenants', (id: string) => id],
    ['organizations of one tenant', () => 'one'],
    ['organizations of tenants that are not known', () => undefined],
  ])('comes to every one of 1,300 %s that wait all the time', async (_who, whoseTurn) => {
    const ids = Array.from({ length: 1_300 }, (_, at) => `o${String(at)}`);
    const line = new TurnLine({ whoseTurn }, () => now);
    for (let round = 0; round < 2; round += 1) {
      const had = new Set<string>();
      for (let turn = 0; turn < 130; turn += 1)
        for (const id of await line.some(() => Promise.resolve(ids), 10)) had.add(id);
      expect(had.size).toBe(1_300);
    }
  });

  it('has neighbours come first where a piece says that it failed, as where it throws', async () => {
    const job = new Job(new Map(['a1', 'a2', 'b1'].map((id) => [id, 2])));
    const piece = (id: string, failed: () => void): Promise<boolean> => {
      const has = (job.left.get(id) ?? 0) > 0;
      if (has) job.do(id);
      if (id === 'a1') failed();
      return Promise.resolve(has);
    };
    await job.line.goThrough(
      () => job.read(),
      piece,
      () => false,
    );
    expect(job.done).toEqual(['a1', 'b1', 'b1', 'a2', 'a2', 'a1']);
  });

  it('has all do their pieces until none is left, tenants in turn', async () => {
    const job = new Job(new Map(['a1', 'a2', 'a3', 'b1'].map((id) => [id, 2])));
    const piece = (id: string): Promise<boolean> => {
      const has = (job.left.get(id) ?? 0) > 0;
      if (has) job.do(id);
      return Promise.resolve(has);
    };
    const goThrough = (): Promise<boolean> =>
      job.line.goThrough(
        () => job.read(),
        piece,
        () => false,
      );
    expect(await goThrough()).toBe(true);
    expect(job.done).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'a1', 'a2', 'a3']);
    expect(await goThrough()).toBe(false);
  });
});
