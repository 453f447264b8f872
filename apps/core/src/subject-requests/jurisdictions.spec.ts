import { dueAt, endOfDayAfter, extendedDueAt } from './jurisdictions.js';

describe('when a request is due in Chile', () => {
  it.each([
    ['the day is that of Santiago', '2026-06-02T03:30:00.000Z', '2026-07-02T03:59:59.999Z'],
    ['the hour does not matter', '2026-06-02T23:00:00.000Z', '2026-07-03T03:59:59.999Z'],
    ['the day ends where clocks go forward', '2026-08-06T12:00:00.000Z', '2026-09-06T03:59:59.999Z'],
    ['the day begins at 01:00', '2026-08-07T12:00:00.000Z', '2026-09-07T02:59:59.999Z'],
    ['the day has 25 hours', '2027-03-04T12:00:00.000Z', '2027-04-04T03:59:59.999Z'],
    ['holidays count', '2026-12-02T12:00:00.000Z', '2027-01-02T02:59:59.999Z'],
    ['a leap day counts', '2028-01-30T12:00:00.000Z', '2028-03-01T02:59:59.999Z'],
  ])('%s', (_, receivedAt, due) => {
    expect(dueAt('CL', new Date(receivedAt)).toISOString()).toBe(due);
  });

  it('an extension adds thirty calendar days', () => {
    const due = dueAt('CL', new Date('2026-08-07T12:00:00.000Z'));
    expect(extendedDueAt('CL', due).toISOString()).toBe('2026-10-07T02:59:59.999Z');
  });

  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu', 'UTC'])(
    'a day ends in %s',
    (zone) => {
      const end = endOfDayAfter(new Date('2026-11-23T12:00:00.000Z'), 1, zone);
      const dayOf = (at: number): string => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(at);
      expect(dayOf(end.getTime())).not.toBe(dayOf(end.getTime() + 1));
      expect(dayOf(end.getTime() + 1) > dayOf(end.getTime())).toBe(true);
    },
  );
});
