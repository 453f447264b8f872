import {
  chainsOf,
  comingOf,
  entriesOf,
  pointsOf,
  sendStepsOf,
  stepsOf,
  united,
  type Item,
} from './chains.ts';

const START = Date.parse('2026-11-23T12:00:00.000Z');

describe('the chains of a timeline', () => {
  it('hold what one correlation id joins, at the place of the newest', () => {
    const [older] = [event('other', 'z', -60_000)];
    const chains = chainsOf(
      united([mail('mail', 'a', 900), event('buy', 'a', 0), older], [points('earn', 'a', 400)]),
    );
    expect(chains.map(({ key }) => key)).toEqual(['a', 'z']);
    expect(chains[0]?.items.map(({ id }) => id)).toEqual(['buy', 'earn', 'mail']);
    expect(chains[0]?.at).toBe(at(900));
  });

  it('leave an item without a correlation id by itself', () => {
    const alone = { ...mail('mail', 'a', 0), correlation_id: null };
    expect(chainsOf([alone, { ...mail('more', 'a', 0), correlation_id: null }])).toHaveLength(2);
    expect(chainsOf([alone])[0]).toMatchObject({ key: 'mail', correlationId: undefined });
  });

  it('show an item once, as it was read last', () => {
    const moved = { ...mail('mail', 'a', 0, 'delivered') };
    const items = united([mail('mail', 'a', 0)], [moved]);
    expect(items).toEqual([moved]);
  });

  it('order as the API does: newest first, then by source, then by id from the last', () => {
    const items = united(
      [points('p', 'a', 0), event('e1', 'b', 0)],
      [mail('m', 'c', 1), event('e2', 'd', 0)],
    );
    expect(items.map(({ id }) => id)).toEqual(['m', 'e2', 'e1', 'p']);
  });

  it('take a hundred thousand items', () => {
    const items = Array.from({ length: 100_000 }, (_, index) => event(`e${index}`, `c${index >> 1}`, -index));
    expect(chainsOf(items)).toHaveLength(50_000);
  });
});

describe('the steps of a chain', () => {
  it('tell the time since the step before, by when the platform had each', () => {
    const buy = event('buy', 'a', 0, 5_000);
    const [chain] = chainsOf(united([mail('mail', 'a', 7_500)], [buy, points('earn', 'a', 5_800)]));
    const entry = { segmentId: 's', name: 'Buyers', at: at(5_600), cause: 'event' };
    const steps = stepsOf(chain ?? none(), [entry]);
    expect(steps.map((step) => (step.kind === 'item' ? step.item.id : step.entry.name))).toEqual([
      'buy',
      'Buyers',
      'earn',
      'mail',
    ]);
    expect(steps.map(({ afterMs }) => afterMs)).toEqual([0, 600, 200, 1_700]);
  });

  it('put cause before effect within one millisecond', () => {
    const [chain] = chainsOf(
      united([mail('mail', 'a', 0)], [points('earn', 'a', 0)], [event('buy', 'a', 0)]),
    );
    const entry = { segmentId: 's', name: 'Buyers', at: at(0), cause: 'event' };
    const kinds = stepsOf(chain ?? none(), [entry]).map((step) =>
      step.kind === 'item' ? step.item.type : 'entry',
    );
    expect(kinds).toEqual(['event', 'entry', 'transaction', 'send']);
  });

  it('of a message tell the time between its states', () => {
    const step = (state: 'accepted' | 'held' | 'sent', after: number) => ({
      state,
      reason: state === 'held' ? 'quiet_hours' : null,
      attempt: 1,
      provider_event_id: null,
      smtp_code: null,
      occurred_at: at(after),
    });
    const steps = sendStepsOf([step('accepted', 0), step('held', 250), step('sent', 3_600_250)]);
    expect(steps.map(({ afterMs }) => afterMs)).toEqual([0, 250, 3_600_000]);
    expect(steps[1]?.reason).toBe('quiet_hours');
  });
});

describe('an entry into a segment', () => {
  const buy = event('buy', 'a', 0);
  const view = event('view', 'b', -10_000);
  const all = [buy, view];
  const [bought, viewed] = chainsOf(all);
  const entry = (after: number, cause = 'event') => ({
    segmentId: 's',
    name: 'Buyers',
    at: at(after),
    cause,
  });

  it('belongs to what was taken up last before it', () => {
    expect(entriesOf(bought ?? none(), all, [entry(700)])).toHaveLength(1);
    expect(entriesOf(viewed ?? none(), all, [entry(700)])).toEqual([]);
    expect(entriesOf(viewed ?? none(), all, [entry(-9_000)])).toHaveLength(1);
  });

  it('belongs to none a minute later, or when time or a changed rule caused it', () => {
    expect(
      entriesOf(bought ?? none(), all, [entry(60_001), entry(700, 'time'), entry(1, 'rule_change')]),
    ).toEqual([]);
  });
});

describe('what is still to come', () => {
  it('is looked for half a minute after an event was received', () => {
    const [chain] = chainsOf([event('buy', 'a', 0)]);
    expect(comingOf(chain ?? none(), START + 29_999).mayFollow).toBe(true);
    expect(comingOf(chain ?? none(), START + 30_000).mayFollow).toBe(false);
  });

  it('are messages until they have gone out, or are held', () => {
    const chain = (state: string) => chainsOf([mail('mail', 'a', 0, state)])[0] ?? none();
    expect(comingOf(chain('dispatching'), START + 60_000).inFlight).toBe(1);
    expect(comingOf(chain('held'), START + 60_000).inFlight).toBe(0);
    expect(comingOf(chain('sent'), START + 60_000).inFlight).toBe(0);
  });
});

describe('the points of a chain', () => {
  it('are the sum of its transactions, unknown without one', () => {
    expect(pointsOf(chainsOf([points('one', 'a', 0, 129), points('two', 'a', 1, -29)])[0] ?? none())).toBe(
      100,
    );
    expect(pointsOf(chainsOf([event('buy', 'a', 0)])[0] ?? none())).toBeUndefined();
  });
});

function at(after: number): string {
  return new Date(START + after).toISOString();
}

function none(): never {
  throw new Error('There is no chain');
}

function common(id: string, correlation_id: string, after: number) {
  return { id, correlation_id, occurred_at: at(after), title: id };
}

function event(id: string, chain: string, after: number, received = after): Item {
  const data = { received_at: at(received), type: 'track', event: id };
  return { ...common(id, chain, after), source: 'core', type: 'event', data } as unknown as Item;
}

function points(id: string, chain: string, after: number, amount = 129): Item {
  const data = { created_at: at(after), points: amount };
  return { ...common(id, chain, after), source: 'loyalty', type: 'transaction', data } as unknown as Item;
}

function mail(id: string, chain: string, after: number, state = 'accepted'): Item {
  const data = { created_at: at(after), state };
  return { ...common(id, chain, after), source: 'messaging', type: 'send', data } as unknown as Item;
}
