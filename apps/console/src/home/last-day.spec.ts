import type { Period } from '../deliverability/deliverability.ts';
import { STATES } from '../messages/vocabulary.ts';
import { lastHours, sendsSince } from './last-day.ts';

function aPeriod(period_start: string, sends: number, handed_over: number, counts: Record<string, number>) {
  const none = Object.fromEntries(STATES.map((state) => [state, 0]));
  return {
    period_start,
    sends,
    handed_over,
    received: 0,
    counts: { ...none, ...counts } as Period['counts'],
  };
}

describe('the last day', () => {
  it.each([
    ['2026-11-26T10:30:00.000Z', '2026-11-25T11:00:00.000Z', '2026-11-25', '2026-11-26'],
    ['2026-11-26T23:59:59.999Z', '2026-11-26T00:00:00.000Z', '2026-11-26', '2026-11-26'],
    ['2026-11-26T00:00:00.000Z', '2026-11-25T01:00:00.000Z', '2026-11-25', '2026-11-26'],
  ])('at %s begins at %s', (now, since, from, to) => {
    expect(lastHours(new Date(now))).toEqual({ since, from, to });
  });

  it('has the sends of its hours, and of none before', () => {
    const periods = [
      aPeriod('2026-11-25T10:00:00.000Z', 100, 100, { sent: 100 }),
      aPeriod('2026-11-25T11:00:00.000Z', 250, 250, { sent: 250, delivered: 200, bounced: 3 }),
      aPeriod('2026-11-26T10:00:00.000Z', 10, 1, { sent: 1, failed: 7 }),
    ];
    expect(sendsSince(periods, '2026-11-25T11:00:00.000Z')).toEqual({
      all: 260,
      handed_over: 251,
      bounced: 3,
      failed: 7,
      waiting: 2,
    });
    expect(sendsSince([], '2026-11-25T11:00:00.000Z')).toEqual({});
  });

  it('counts no send as where it has only come through', () => {
    const passed = { accepted: 2, rendering: 2, gated: 2, dispatching: 2, sent: 2 };
    const period = aPeriod('2026-11-26T10:00:00.000Z', 2, 2, passed);
    expect(sendsSince([period], period.period_start)).toEqual({ all: 2, handed_over: 2 });
  });

  it('takes what was handed over, and reported as failed later, for both and for nothing that waits', () => {
    const period = aPeriod('2026-11-26T10:00:00.000Z', 1, 1, { unknown: 1, failed: 1 });
    expect(sendsSince([period], period.period_start)).toEqual({ all: 1, handed_over: 1, failed: 1 });
  });
});
