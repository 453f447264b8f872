import { demandPublicUrl, readConfig, serviceConfig } from './index.js';

const start = (env: Record<string, string>) => () => demandPublicUrl(readConfig(serviceConfig, env));

describe('local mode', () => {
  it.each([
    'http://localhost:8080',
    'http://127.0.0.1:8080',
    'http://127.1:8080',
    'http://[::1]:8080',
    'https://platform.localhost',
  ])('starts at %s', (url) => expect(start({ PLATFORM_MODE: 'local', PUBLIC_URL: url })).not.toThrow());

  it('starts where nothing is said', () => expect(start({ PLATFORM_MODE: 'local' })).not.toThrow());

  it.each([
    'https://platform.example.com',
    'http://192.168.1.5:8080',
    'http://0.0.0.0:8080',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://[::2]:8080',
  ])('refuses %s: whoever reaches it reads its mail', (url) =>
    expect(start({ PLATFORM_MODE: 'local', PUBLIC_URL: url })).toThrow(/PUBLIC_URL must lead to localhost/),
  );
});

describe('production', () => {
  it('starts at an https address', () =>
    expect(start({ PUBLIC_URL: 'https://platform.example.com' })).not.toThrow());

  it.each<Record<string, string>>([{}, { PUBLIC_URL: '' }, { PUBLIC_URL: 'http://platform.example.com' }])(
    'refuses %j',
    (env) => expect(start(env)).toThrow(/PUBLIC_URL must be the https/),
  );
});
