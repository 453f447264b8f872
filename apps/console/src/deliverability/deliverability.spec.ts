import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATES } from '../messages/vocabulary.ts';
import {
  dayIn,
  GRANULARITIES,
  GROUPINGS,
  instantsOf,
  ofGroup,
  rangeOf,
  RATES,
  sendsOf,
  sorted,
  type Period,
} from './deliverability.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');
const NO_COUNTS = Object.fromEntries(STATES.map((state) => [state, 0])) as Period['counts'];
const NO_RATES = { delivered: null, bounced: null, complained: null, opened: null, clicked: null };

function aPeriod(day: number, group: string | null, over: Partial<Period> = {}): Period {
  return {
    period_start: `2026-11-0${String(day)}T00:00:00.000Z`,
    period_end: `2026-11-0${String(day + 1)}T00:00:00.000Z`,
    group,
    sends: 1,
    handed_over: 1,
    received: 0,
    counts: { ...NO_COUNTS, sent: 1 },
    rates: NO_RATES,
    ...over,
  };
}

describe.each(['en', 'es'])('the words in %s', (language) => {
  const texts = JSON.parse(read(`messages.${language}.json`)) as Record<string, Record<string, string>>;

  it.each([
    ['granularities', GRANULARITIES],
    ['groupings', GROUPINGS],
    ['byGroup', GROUPINGS],
    ['without', GROUPINGS],
    ['rates', RATES],
    ['meanings', RATES],
  ])('say all %s', (name, codes) => {
    expect(Object.keys(texts[name] ?? {}).sort()).toEqual([...codes].sort());
  });
});

describe('the days of an address', () => {
  it.each(['2026-02-29', '2026-13-01', '26-01-01', 'today', '', '1969-12-31', '3000-01-01'])(
    'are not %s',
    (from) => {
      expect(dayIn({ from }, 'from')).toBeUndefined();
    },
  );

  it('are the thirty that end with the last, unless it says others', () => {
    const now = new Date('2026-11-26T23:59:00.000Z');
    expect(rangeOf({}, now)).toEqual({ from: '2026-10-28', to: '2026-11-26' });
    expect(rangeOf({ to: '2026-03-01' }, now)).toEqual({ from: '2026-01-31', to: '2026-03-01' });
    expect(rangeOf({ from: '2026-11-01' }, now)).toEqual({ from: '2026-11-01', to: '2026-11-26' });
  });

  it('end where the next one begins', () => {
    expect(instantsOf({ from: '2026-02-28', to: '2026-02-28' })).toEqual({
      from: '2026-02-28T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
    });
  });
});

describe('one group', () => {
  it('has every period, empty where it has no send', () => {
    const all = [aPeriod(1, null), aPeriod(2, null)];
    const grouped = [aPeriod(2, 'a.example', { sends: 7 }), aPeriod(2, null, { sends: 9 })];
    expect(ofGroup(grouped, all, 'a.example').map(({ sends }) => sends)).toEqual([0, 7]);
    expect(ofGroup(grouped, all, 'none').map(({ sends }) => sends)).toEqual([0, 9]);
    expect(ofGroup(grouped, all, 'a.example')[0]?.counts.sent).toBe(0);
  });

  it('stands before those with less, and before those that have no such share', () => {
    const groups = [
      aPeriod(1, 'few', { sends: 1, rates: { ...NO_RATES, bounced: 0.5 } }),
      aPeriod(1, 'none', { sends: 2 }),
      aPeriod(1, 'many', { sends: 3, rates: { ...NO_RATES, bounced: 0 } }),
    ];
    expect(sorted(groups, 'sends').map(({ group }) => group)).toEqual(['many', 'none', 'few']);
    expect(sorted(groups, 'bounced').map(({ group }) => group)).toEqual(['few', 'many', 'none']);
  });

  it('leads to its sends where they can be filtered so', () => {
    expect(sendsOf(undefined, null)).toEqual({});
    expect(sendsOf('channel', 'email')).toEqual({ channel: 'email' });
    expect(sendsOf('campaign', 'c-1')).toEqual({ source_id: 'c-1' });
    expect(sendsOf('campaign', null)).toBeUndefined();
    expect(sendsOf('channel', '*')).toBeUndefined();
    expect(sendsOf('recipient_domain', 'a.example')).toBeUndefined();
  });
});
