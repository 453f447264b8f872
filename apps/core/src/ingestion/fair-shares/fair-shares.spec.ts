import { FairShares } from './fair-shares.js';

/** A tenant and its rate. */
interface Sender {
  tenant: string;
  /** Requests a second. */
  perSecond: number;
  /** Events of each. */
  events?: number;
  /** All of them are looked at, and refused. */
  isBad?: boolean;
}

interface Told {
  accepted: number;
  refused: number;
  times: number[];
}

/** A core that accepts one event after the other, in a time of its own: a step is a millisecond. */
class Core {
  now = 0;
  eventMs = 1_000 / 700;
  naturalMs = 5;
  turnMs = 0;
  pauses = false;
  readonly shares = new FairShares(
    () => this.now,
    (run) => this.turns.push({ at: this.now + this.turnMs, run }),
  );
  private readonly turns: { at: number; run: () => void }[] = [];
  private queue: { since: number; left: number; endsAt?: number; told: Told; end: () => void }[] = [];
  private readonly due = new Map<string, number>();

  play(ms: number, ...senders: Sender[]): Record<string, Told> {
    const told: Record<string, Told> = Object.fromEntries(
      senders.map(({ tenant }) => [tenant, { accepted: 0, refused: 0, times: [] }]),
    );
    for (const end = this.now + ms; this.now < end; this.now += 1) {
      for (const sender of senders) {
        let due = (this.due.get(sender.tenant) ?? 0) + sender.perSecond / 1_000;
        for (; due >= 1; due -= 1) this.ask(sender, told[sender.tenant] as Told);
        this.due.set(sender.tenant, due);
      }
      this.work();
      for (const { run } of this.turns.splice(0, this.turns.filter(({ at }) => at <= this.now).length)) run();
    }
    return told;
  }

  private ask({ tenant, events = 1, isBad = false }: Sender, told: Told): void {
    try {
      const one = this.shares.begin(tenant);
      const end = (): void => this.shares.end(one, isBad ? 0 : events, events);
      this.queue.push({ since: this.now, left: events * this.eventMs, told, end });
    } catch (error) {
      expect(error).toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } });
      told.refused += 1;
    }
  }

  private work(): void {
    let free = this.pauses ? 0 : 1;
    for (const one of this.queue) {
      const spent = Math.min(free, one.left);
      one.left -= spent;
      free -= spent;
      if (one.left <= 0) one.endsAt ??= this.now + this.naturalMs;
      if (free <= 0) break;
    }
    const over = this.queue.filter(({ endsAt }) => endsAt !== undefined && endsAt <= this.now);
    this.queue = this.queue.filter((one) => !over.includes(one));
    for (const { since, told, end } of over) {
      told.accepted += 1;
      told.times.push(this.now - since);
      end();
    }
  }
}

function known(): Core {
  const core = new Core();
  core.play(10_000, { tenant: 'a', perSecond: 50 }, { tenant: 'b', perSecond: 50 });
  return core;
}

const slowest = ({ times }: Told): number => times.toSorted((one, other) => one - other).at(-1) ?? NaN;

describe('while more comes than can be accepted', () => {
  it('a tenant under its share loses none, and is served soon; the other gets the rest', () => {
    const core = known();
    const senders = [
      { tenant: 'small', perSecond: 100 },
      { tenant: 'large', perSecond: 2_000 },
    ];
    expect(core.play(5_000, ...senders)['small']?.refused).toBe(0);
    const { small, large } = core.play(30_000, ...senders);
    expect(small?.refused).toBe(0);
    expect(slowest(small as Told)).toBeLessThan(100);
    expect(large?.accepted).toBeGreaterThan(0.9 * 600 * 30);
  });

  it('those above share equally what those under leave', () => {
    const core = known();
    const senders = [
      { tenant: 'small', perSecond: 100 },
      { tenant: 'one', perSecond: 900 },
      { tenant: 'two', perSecond: 1_800 },
    ];
    core.play(5_000, ...senders);
    const { small, one, two } = core.play(30_000, ...senders);
    expect(small?.refused).toBe(0);
    expect((one?.accepted ?? 0) / (two?.accepted ?? 1)).toBeCloseTo(1, 0);
    expect((one?.accepted ?? 0) + (two?.accepted ?? 0)).toBeGreaterThan(0.9 * 600 * 30);
  });

  it('a batch counts all of its events', () => {
    const core = known();
    const senders = [
      { tenant: 'singles', perSecond: 200 },
      { tenant: 'batches', perSecond: 30, events: 100 },
    ];
    core.play(5_000, ...senders);
    const { singles, batches } = core.play(30_000, ...senders);
    expect(singles?.refused).toBe(0);
    expect(batches?.refused).toBeGreaterThan(0);
    expect(100 * (batches?.accepted ?? 0)).toBeGreaterThan(0.8 * 500 * 30);
  });

  it('events that are refused themselves count as well', () => {
    const core = known();
    const senders = [
      { tenant: 'small', perSecond: 100 },
      { tenant: 'bad', perSecond: 2_000, isBad: true },
    ];
    core.play(5_000, ...senders);
    const { small, bad } = core.play(30_000, ...senders);
    expect(small?.refused).toBe(0);
    expect(bad?.refused).toBeGreaterThan(0.6 * 2_000 * 30);
  });

  it('a pause makes nobody’s share small', () => {
    const core = known();
    const senders = [
      { tenant: 'small', perSecond: 100 },
      { tenant: 'large', perSecond: 2_000 },
    ];
    core.play(10_000, ...senders);
    expect(core.shares.limit).toBeDefined();
    core.pauses = true;
    expect(core.play(1_500, ...senders)['small']?.refused).toBe(0);
    core.pauses = false;
    expect(core.play(10_000, ...senders)['small']?.refused).toBe(0);
  });
});

describe('nobody is refused', () => {
  it('who is alone, for the gateway does that', () => {
    const core = known();
    core.play(5_000);
    expect(core.play(20_000, { tenant: 'a', perSecond: 1_000 })['a']?.refused).toBe(0);
  });

  it.each([
    ['up to nine tenths of what can be accepted', {}, 315],
    ['where core has just begun', { eventMs: 3 }, 100],
    ['where acceptance is slow by its nature', { naturalMs: 300 }, 150],
  ])('%s', (_, nature, perSecond) => {
    const core = Object.assign(new Core(), nature);
    const both = ['a', 'b'].map((tenant) => ({ tenant, perSecond }));
    for (const told of Object.values(core.play(60_000, ...both))) expect(told.refused).toBe(0);
    expect(core.shares.limit).toBeUndefined();
  });

  it('of a thousand events that come at once', () => {
    const core = known();
    const told = core.play(1, { tenant: 'a', perSecond: 500_000 }, { tenant: 'b', perSecond: 500_000 });
    for (const { refused } of Object.values(told)) expect(refused).toBe(0);
    for (const { refused } of Object.values(core.play(5_000, { tenant: 'c', perSecond: 100 })))
      expect(refused).toBe(0);
  });

  it.each([0.5, 1.5, 3])('where acceptance pauses once, for %f s', (seconds) => {
    const core = known();
    const both = ['a', 'b'].map((tenant) => ({ tenant, perSecond: 100 }));
    core.play(5_000, ...both);
    core.pauses = true;
    const during = core.play(seconds * 1_000, ...both);
    core.pauses = false;
    const after = core.play(10_000, ...both);
    for (const { refused } of [...Object.values(during), ...Object.values(after)]) expect(refused).toBe(0);
  });

  it.each([0, 100, 300])('of 64 at once that take two seconds, where a turn takes %i ms', (turnMs) => {
    const core = Object.assign(known(), { turnMs, eventMs: 2_000 / 64 });
    for (const each of [64_000, 0]) {
      const both = ['a', 'b'].map((tenant) => ({ tenant, perSecond: each / 2 }));
      for (const { refused } of Object.values(core.play(each > 0 ? 1 : 2_500, ...both)))
        expect(refused).toBe(0);
    }
  });

  it.each([5, 10_000])('of a crowd after %i s of silence behind an overload', (seconds) => {
    const core = known();
    core.play(10_050, { tenant: 'a', perSecond: 100 }, { tenant: 'b', perSecond: 2_000 });
    expect(core.shares.limit).toBeDefined();
    core.play(1_000);
    core.now += seconds * 1_000;
    for (const [ms, perSecond] of [
      [1, 100_000],
      [5_000, 200],
    ] as const) {
      const both = ['a', 'b'].map((tenant) => ({ tenant, perSecond }));
      for (const { refused } of Object.values(core.play(ms, ...both))) expect(refused).toBe(0);
    }
  });

  it('any longer where acceptance has become slow by its nature', () => {
    const core = known();
    core.naturalMs = 300;
    const both = ['a', 'b'].map((tenant) => ({ tenant, perSecond: 150 }));
    core.play(20_000, ...both);
    for (const { refused } of Object.values(core.play(30_000, ...both))) expect(refused).toBe(0);
    expect(core.shares.limit).toBeUndefined();
  });

  it('again after a lull, where acceptance has become slow by its nature', () => {
    const core = known();
    core.naturalMs = 100;
    const both = ['a', 'b'].map((tenant) => ({ tenant, perSecond: 300 }));
    core.play(20_000, ...both);
    for (let round = 0; round < 5; round += 1) {
      core.play(300, { tenant: 'a', perSecond: 20 });
      for (const { refused } of Object.values(core.play(10_000, ...both))) expect(refused).toBe(0);
    }
  });

  it('any more once there is enough for all', () => {
    const core = known();
    core.play(10_000, { tenant: 'a', perSecond: 100 }, { tenant: 'b', perSecond: 2_000 });
    expect(core.shares.limit).toBeDefined();
    core.play(5_000, { tenant: 'a', perSecond: 100 }, { tenant: 'b', perSecond: 200 });
    expect(core.shares.limit).toBeUndefined();
  });
});
