import { smsSegments } from './sms-segments.js';

describe('smsSegments', () => {
  it.each([
    ['', 1],
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(307), 3],
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    ['ñ'.repeat(160), 1],
    ['á'.repeat(70), 1],
    ['á'.repeat(71), 2],
    ['🎉'.repeat(35), 1],
    ['🎉'.repeat(36), 2],
    // One place is left before a character of two: it begins the next piece.
    [`${'b'.repeat(152)}[${'b'.repeat(152)}`, 3],
    [`${'b'.repeat(152)}[${'b'.repeat(151)}`, 2],
    [`${'b'.repeat(151)}[${'b'.repeat(153)}`, 2],
    ['~'.repeat(152), 2],
    ['~'.repeat(153), 3],
    [`${'ж'.repeat(66)}🐱${'ж'.repeat(66)}`, 3],
    [`${'ж'.repeat(66)}🐱${'ж'.repeat(65)}`, 2],
    ['🐱'.repeat(66), 2],
    ['🐱'.repeat(67), 3],
  ])('%s', (text, expected) => {
    expect(smsSegments(text)).toBe(expected);
  });
});
