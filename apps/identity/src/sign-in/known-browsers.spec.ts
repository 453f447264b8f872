import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Clock } from '@customer-platform/database';
import { KnownBrowsers } from './known-browsers.js';

const DAY_MS = 86_400_000;
const EMAIL = 'ana@example.com';

const before = process.env['ENCRYPTION_KEY'];
beforeAll(() => {
  process.env['ENCRYPTION_KEY'] = Buffer.alloc(32, 7).toString('base64');
});
afterAll(() => {
  if (before === undefined) delete process.env['ENCRYPTION_KEY'];
  else process.env['ENCRYPTION_KEY'] = before;
});

/** A clock that stands where it is put. */
class StandingClock extends Clock {
  at = Date.now();

  override now(): Date {
    return new Date(this.at);
  }
}

/** A request with what an answer has put into the browser. */
function asks(cookie = ''): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers.cookie = cookie;
  return request;
}

function remembered(browsers: KnownBrowsers, email: string, request = asks()): string {
  const response = new ServerResponse(request);
  browsers.remember(request, response, email);
  return String(response.getHeader('set-cookie')).split(';')[0] ?? '';
}

describe('a browser in which somebody has signed in', () => {
  it('is known for the address for 90 days, whatever is left of its cookie', () => {
    const clock = new StandingClock();
    const browsers = new KnownBrowsers(clock);
    const since = clock.now();
    const cookie = remembered(browsers, EMAIL);
    expect(browsers.of(asks(cookie), EMAIL.toUpperCase())?.since).toEqual(since);
    expect(browsers.of(asks(cookie), 'another@example.com')).toBeUndefined();
    clock.at += 90 * DAY_MS;
    expect(browsers.of(asks(cookie), EMAIL)).toBeDefined();
    clock.at += 1;
    expect(browsers.of(asks(cookie), EMAIL)).toBeUndefined();
    // Whoever signs in again is known again, by another name.
    const again = remembered(browsers, EMAIL, asks(cookie));
    expect([browsers.of(asks(again), EMAIL)?.since, again.split('.')]).toEqual([clock.now(), [again]]);
  });

  it('is not known for longer by another time than that of the sign-in', () => {
    const clock = new StandingClock();
    const browsers = new KnownBrowsers(clock);
    const cookie = remembered(browsers, EMAIL);
    const time = clock.at.toString(16).padStart(11, '0');
    const later = (clock.at + DAY_MS).toString(16).padStart(11, '0');
    expect(cookie).toContain(time);
    expect(browsers.of(asks(cookie.replace(time, later)), EMAIL)).toBeUndefined();
  });
});
