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
  ])('%s', (text, expected) => {
    expect(smsSegments(text)).toBe(expected);
  });
});
