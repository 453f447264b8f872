import { isAllowedPort } from './allowed-ports.js';

const isAllowed = (url: string, ports?: number[], allowLoopback = false): boolean =>
  isAllowedPort(new URL(url), { ports, allowLoopback });

it.each(['https://example.com/', 'https://example.com:80/', 'http://example.com:443/'])(
  '%s is called',
  (url) => expect(isAllowed(url)).toBe(true),
);

it.each(['https://example.com:25/', 'https://example.com:8443/', 'http://[2606:4700::1111]:6379/'])(
  '%s is not',
  (url) => expect(isAllowed(url)).toBe(false),
);

it('calls the ports that an installation names, and in local mode any', () => {
  expect(isAllowed('https://example.com:8443/', [8443])).toBe(true);
  expect(isAllowed('https://example.com:25/', [8443])).toBe(false);
  expect(isAllowed('http://127.0.0.1:40123/', [], true)).toBe(true);
});
