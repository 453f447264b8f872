import { DestinationNotAllowed, isAllowedAddress, resolveDestination } from './destination.js';

describe('isAllowedAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '172.32.0.1',
    '192.0.1.1',
    '223.255.255.255',
    '168.63.129.17',
    '199.36.153.12',
    '166.12.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('%s may be called', (address) => {
    expect(isAllowedAddress(address, false)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '168.63.129.16',
    '199.36.153.4',
    '199.36.153.11',
    '161.26.0.6',
    '166.9.255.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
    '127.1',
    '0x7f000001',
  ])('%s may not', (address) => {
    expect(isAllowedAddress(address, false)).toBe(false);
  });

  it('lets local mode call this very machine, and still nothing else that is private', () => {
    expect(isAllowedAddress('127.0.0.1', true)).toBe(true);
    expect(isAllowedAddress('::1', true)).toBe(true);
    expect(isAllowedAddress('10.0.0.1', true)).toBe(false);
    expect(isAllowedAddress('169.254.169.254', true)).toBe(false);
  });
});

describe('resolveDestination', () => {
  it('pins the address it has checked', async () => {
    await expect(resolveDestination('127.0.0.1', true)).resolves.toEqual({
      host: '127.0.0.1',
      address: '127.0.0.1',
      family: 4,
    });
    await expect(resolveDestination('[::1]', true)).resolves.toMatchObject({ address: '::1', family: 6 });
    await expect(resolveDestination('localhost', true)).resolves.toMatchObject({ host: 'localhost' });
  });

  it.each([
    'localhost',
    '127.0.0.1',
    '[::1]',
    '10.1.2.3',
    '169.254.169.254',
    '2130706433',
    '0177.0.0.1',
    '0x7f.1',
  ])('refuses %s', async (host) => {
    await expect(resolveDestination(host, false)).rejects.toBeInstanceOf(DestinationNotAllowed);
  });
});
