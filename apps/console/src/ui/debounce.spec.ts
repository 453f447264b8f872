import { jest } from '@jest/globals';
import { createMemoryHistory } from '@tanstack/react-router';
import { debounceTyping } from './debounce.ts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function typing() {
  const history = createMemoryHistory({ initialEntries: ['/o/acme/segments?name=a'] });
  const run = jest.fn();
  return { history, run, callOff: debounceTyping(history, run) };
}

it('runs once typing rests', () => {
  const { run } = typing();
  jest.advanceTimersByTime(249);
  expect(run).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1_000);
  expect(run).toHaveBeenCalledTimes(1);
});

it('leaves alone who has opened another page meanwhile, which may still be on its way', () => {
  const { history, run } = typing();
  history.push('/o/acme/segments/1');
  jest.advanceTimersByTime(1_000);
  expect(run).not.toHaveBeenCalled();
});

it('goes on where only something of the same page was opened or chosen', () => {
  const { history, run } = typing();
  history.push('/o/acme/segments?name=a&open=1');
  jest.advanceTimersByTime(1_000);
  expect(run).toHaveBeenCalledTimes(1);
});

it('is called off by the next letter', () => {
  const { run, callOff } = typing();
  callOff();
  jest.advanceTimersByTime(1_000);
  expect(run).not.toHaveBeenCalled();
});
