import { jest } from '@jest/globals';
import { askedAtStart } from './at-start.js';
import { DatabaseUnavailable } from './errors.js';

const SECOND = 1_000;
const away = new DatabaseUnavailable(new Error('timeout exceeded when trying to connect'));

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('asks again until the database answers', async () => {
  const ask = jest.fn<() => Promise<string>>();
  ask.mockRejectedValueOnce(away).mockRejectedValueOnce(away).mockResolvedValue('answer');
  const asked = askedAtStart(ask);
  await jest.advanceTimersByTimeAsync(2 * SECOND);
  await expect(asked).resolves.toBe('answer');
  expect(ask).toHaveBeenCalledTimes(3);
});

it('gives up after a minute', async () => {
  const asked = expect(askedAtStart(() => Promise.reject(away))).rejects.toBe(away);
  await jest.advanceTimersByTimeAsync(62 * SECOND);
  await asked;
});

it('asks once where the database has answered with something else', async () => {
  const refusal = new Error('permission denied for table suppressions');
  const ask = jest.fn(() => Promise.reject(refusal));
  await expect(askedAtStart(ask)).rejects.toBe(refusal);
  expect(ask).toHaveBeenCalledTimes(1);
});
