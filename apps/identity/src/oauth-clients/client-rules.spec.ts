import { faultOfUri } from './client-rules.js';

/** Whether people may be sent there by a public client, by a confidential one, and by that on one's own machine. */
const takes = (uri: string): boolean[] =>
  [faultOfUri(uri, 'public'), faultOfUri(uri, 'confidential'), faultOfUri(uri, 'confidential', true)].map(
    (fault) => fault === undefined,
  );

describe('an address that people are sent to', () => {
  it.each<[string, boolean[]]>([
    ['https://app.example/callback', [true, true, true]],
    ['http://app.example/callback', [false, false, false]],
    ['http://localhost:3000/callback', [true, false, true]],
    ['http://127.0.0.1/callback', [true, false, true]],
    ['http://[::1]/callback', [true, false, true]],
    ['http://localhost.example/callback', [false, false, false]],
    ['http://127.0.0.2/callback', [false, false, false]],
    ['com.example.app:/callback', [true, false, false]],
    ['com.example.app://callback', [true, false, false]],
    ['com.example.app:callback', [false, false, false]],
    ['example:/callback', [false, false, false]],
    ['javascript:alert(1)', [false, false, false]],
    ['javascript.x:/alert(1)#', [false, false, false]],
    ['data:text/html,x', [false, false, false]],
    ['file:///etc/passwd', [false, false, false]],
    ['com.example.app:/call*back', [false, false, false]],
  ])('%s', (uri, taken) => {
    expect(takes(uri)).toEqual(taken);
  });
});
