import { canonicalTimeZone, storedTimeZone } from '../index.js';

describe('a time zone', () => {
  it.each([
    ['america/santiago', 'America/Santiago'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['US/Pacific', 'America/Los_Angeles'],
    ['utc', 'UTC'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ])('%s is %s', (text, canonical) => expect(canonicalTimeZone(text)).toBe(canonical));

  it.each([
    '',
    '+03:00',
    'Mars/Olympus',
    'AET',
    'ist',
    'PST',
    'SystemV/PST8PDT',
    'Asia/\u212Aolkata',
    'a'.repeat(65),
  ])('%j is none', (text) => expect(canonicalTimeZone(text)).toBeUndefined());

  it('that is stored is what its name meant when it was taken', () => {
    expect(['AET', 'IST', 'Europe/Kiev', 'Mars/Olympus'].map(storedTimeZone)).toEqual([
      'Australia/Sydney',
      'Asia/Kolkata',
      'Europe/Kyiv',
      'UTC',
    ]);
  });
});
