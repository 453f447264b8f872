import { jest } from '@jest/globals';
import { log } from '@customer-platform/http';
import { PrivateCallers } from './private-callers.js';

describe('callers from private addresses', () => {
  afterEach(() => jest.restoreAllMocks());
  const told = (local: boolean, ...addresses: (string | undefined)[]): number => {
    const warn = jest.spyOn(log, 'warn').mockClear();
    const callers = new PrivateCallers(local);
    for (const address of addresses) callers.note(address);
    return warn.mock.calls.length;
  };

  it('are told once, in production', () => {
    expect(told(false, '93.184.216.34', '2606:4700::1')).toBe(0);
    expect(told(false, '93.184.216.34', '10.1.2.3', '192.168.0.1', undefined)).toBe(1);
    expect(told(false, 'fd00::1')).toBe(1);
    expect(told(true, '10.1.2.3', '127.0.0.1')).toBe(0);
  });
});
