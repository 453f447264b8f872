import { jest } from '@jest/globals';
import fc from 'fast-check';
import { isTimezone, localDay, localTimeAt, localWeek, nextTimeOfDay } from './local-time.js';
import { quietUntil, type QuietHours } from './quiet-hours.js';

const SANTIAGO = 'America/Santiago';

function at(text: string): Date {
  return new Date(text);
}

describe('nextTimeOfDay', () => {
  it.each([
    // Santiago, UTC−3 in summer: today, tomorrow, and exactly now is not after now.
    ['2026-01-10T12:00:00Z', 10 * 60, SANTIAGO, '2026-01-10T13:00:00.000Z'],
    ['2026-01-10T14:00:00Z', 10 * 60, SANTIAGO, '2026-01-11T13:00:00.000Z'],
    ['2026-01-10T13:00:00Z', 10 * 60, SANTIAGO, '2026-01-11T13:00:00.000Z'],
    // New York skips 02:00–03:00 on 8 March 2026: 02:30 becomes 03:00 EDT.
    ['2026-03-08T05:00:00Z', 150, 'America/New_York', '2026-03-08T07:00:00.000Z'],
    // Santiago skips 00:00–01:00 on 6 September 2026: midnight becomes 01:00.
    ['2026-09-06T02:00:00Z', 0, SANTIAGO, '2026-09-06T04:00:00.000Z'],
    ['2026-09-06T02:00:00Z', 30, SANTIAGO, '2026-09-06T04:00:00.000Z'],
    ['2026-09-06T04:00:00Z', 0, SANTIAGO, '2026-09-07T03:00:00.000Z'],
    // New York has 01:30 twice on 1 November 2026: the first, and after it the second.
    ['2026-11-01T04:00:00Z', 90, 'America/New_York', '2026-11-01T05:30:00.000Z'],
    ['2026-11-01T05:45:00Z', 90, 'America/New_York', '2026-11-01T06:30:00.000Z'],
    // Lord Howe moves by half an hour: 02:15 on 4 October 2026 does not exist.
    ['2026-10-03T14:00:00Z', 135, 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
    // Samoa left out 30 December 2011 altogether: what would have been then is when the 31st begins.
    ['2011-12-30T08:00:00Z', 60, 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  ])('after %s, minute %i in %s', (after, minute, zone, expected) => {
    expect(nextTimeOfDay(at(after), minute, zone).toISOString()).toBe(expected);
  });

  it('is in the future and shows the time asked for, or stands at the end of a gap', () => {
    const zones = fc.constantFrom(
      SANTIAGO,
      'America/New_York',
      'Europe/Dublin',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'UTC',
    );
    const instants = fc.date({
      min: at('2020-01-01T00:00:00Z'),
      max: at('2035-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, fc.integer({ min: 0, max: 1439 }), zones, (after, minute, zone) => {
        const next = nextTimeOfDay(after, minute, zone);
        const shown = localTimeAt(next, zone);
        const before = localTimeAt(new Date(next.getTime() - 1_000), zone);
        // Over midnight too, and not where clocks go back.
        const passed = (shown.minute - before.minute + 1440) % 1440;
        const jumped = passed > 1 && passed < 720;
        expect(next.getTime()).toBeGreaterThan(after.getTime());
        expect(next.getTime() - after.getTime()).toBeLessThanOrEqual(26 * 3_600_000);
        expect(shown.second).toBe(0);
        if (!jumped) expect(shown.minute).toBe(minute);
        else expect(minute).toBeLessThanOrEqual(shown.minute);
      }),
    );
  });
});

describe('quietUntil', () => {
  const night: QuietHours = { start: '22:00', end: '08:00', timezone: SANTIAGO };

  it.each([
    ['2026-01-10T15:00:00Z', undefined],
    ['2026-01-11T00:59:59Z', undefined],
    ['2026-01-11T01:00:00Z', '2026-01-11T11:00:00.000Z'],
    ['2026-01-11T10:59:59Z', '2026-01-11T11:00:00.000Z'],
    ['2026-01-11T11:00:00Z', undefined],
  ])('over midnight, at %s', (now, expected) => {
    expect(quietUntil(night, undefined, at(now))?.toISOString()).toBe(expected);
  });

  it('goes by the contact’s time zone first', () => {
    expect(quietUntil(night, 'Asia/Tokyo', at('2026-01-10T15:00:00Z'))?.toISOString()).toBe(
      '2026-01-10T23:00:00.000Z',
    );
  });

  it('ends when clocks go forward over its end', () => {
    const hours: QuietHours = { start: '23:00', end: '00:30', timezone: SANTIAGO };
    expect(quietUntil(hours, undefined, at('2026-09-06T03:30:00Z'))?.toISOString()).toBe(
      '2026-09-06T04:00:00.000Z',
    );
  });

  it('holds nothing when start and end are the same', () => {
    expect(quietUntil({ ...night, end: '22:00' }, undefined, at('2026-01-11T03:00:00Z'))).toBeUndefined();
  });
});

describe('calendar windows', () => {
  it('counts days and weeks where the contact lives', () => {
    const sundayNight = at('2026-11-23T02:30:00Z');
    expect(localDay(sundayNight, SANTIAGO)).toBe('2026-11-22');
    expect(localWeek(sundayNight, SANTIAGO)).toBe('2026-11-16');
    expect(localDay(sundayNight, 'UTC')).toBe('2026-11-23');
    expect(localWeek(sundayNight, 'UTC')).toBe('2026-11-23');
  });

  it('knows time zones by their IANA names', () => {
    expect(isTimezone(SANTIAGO)).toBe(true);
    for (const text of ['', '+03:00', 'Mars/Phobos', 'local']) expect(isTimezone(text)).toBe(false);
  });
});

describe('a time zone', () => {
  it('is remembered once, however it is spelled', () => {
    const made = jest.spyOn(Intl, 'DateTimeFormat');
    try {
      const spellings = ['Antarctica/Troll', 'antarctica/TROLL', 'ANTARCTICA/troll', 'aNTARCTICA/tROLL'];
      expect(spellings.map(isTimezone)).toEqual([true, true, true, true]);
      expect(made).toHaveBeenCalledTimes(1);
    } finally {
      made.mockRestore();
    }
    // A letter that is ASCII only once it is lowered.
    expect(['Asia/Kolkata', 'Asia/\u212Aolkata'].map(isTimezone)).toEqual([true, false]);
  });
});
