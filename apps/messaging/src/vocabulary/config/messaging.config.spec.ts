import { messagingConfig } from './messaging.config.js';

const PRODUCTION = {
  PLATFORM_MODE: 'production',
  PUBLIC_URL: 'https://platform.example.com',
  PORT: '3000',
  INTERNAL_PORT: '3001',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  ADDRESS_PEPPERS: 'a pepper of tests, long enough',
};

describe('verified domains', () => {
  it.each([
    [{}, true],
    [{ SENDER_DOMAINS_REQUIRED: '' }, true],
    [{ SENDER_DOMAINS_REQUIRED: 'false' }, false],
    [{ SENDER_DOMAINS_REQUIRED: 'true', PLATFORM_MODE: 'local' }, false],
  ])('%j: required is %s', (given, expected) => {
    expect(messagingConfig({ ...PRODUCTION, ...given }).senderDomainsRequired).toBe(expected);
  });
});

describe('the platform’s mail server', () => {
  it.each([
    [{}, undefined],
    [{ PLATFORM_SMTP_URL: '' }, undefined],
    [{ PLATFORM_SMTP_URL: 'smtp://relay.example:587' }, { security: 'starttls', port: 587 }],
    [{ PLATFORM_SMTP_URL: 'smtps://relay.example' }, { security: 'tls', port: 465 }],
    [{ PLATFORM_SMTP_URL: 'smtp://127.0.0.1:2525' }, { security: 'none' }],
    [
      { PLATFORM_SMTP_URL: 'smtps://r.example', PLATFORM_SMTP_FROM: 'accounts@p.example' },
      { from: 'accounts@p.example' },
    ],
  ])('in production %j is read as %j', (given, expected) => {
    const { identitySmtp } = messagingConfig({
      ...PRODUCTION,
      // Everybody's in local mode, and nobody's here.
      SMTP_URL: 'smtp://mail.example',
      ...given,
    });
    if (expected === undefined) expect(identitySmtp).toBeUndefined();
    else expect(identitySmtp).toMatchObject(expected);
  });
});
