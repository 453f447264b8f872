import { channelOf, draftOf, newChannel, refusalOf, secretsOf, type ChannelDraft } from './channel-draft.ts';

const SMTP = {
  enabled: true,
  max_per_second: 20,
  consent_mode: 'opt_in',
  provider: 'smtp',
  from: 'Shop <hello@shop.example>',
  reply_to: null,
  host: 'smtp.shop.example',
  port: 465,
  security: 'tls',
  username: 'shop',
  auth: 'password',
  token_url: null,
  scope: null,
  client_id: null,
  password: { set: true, fingerprint: 'a1b2c3d4', updated_at: '2026-11-23T10:00:00.000Z' },
  webhook_url: null,
  misconfigured: null,
};

function read(setting: Record<string, unknown>): ChannelDraft {
  const draft = draftOf(setting);
  if (draft === undefined) throw new Error('The provider is not known');
  return draft;
}

describe('a channel in its form', () => {
  it('is written as it was read, but for what is derived and for its secrets', () => {
    const { password: _, webhook_url: __, misconfigured: ___, ...rest } = SMTP;
    expect(channelOf('email', read(SMTP))).toEqual(rest);
  });

  it('keeps a secret by leaving it out, replaces it by a text, erases it by null', () => {
    const draft = read(SMTP);
    expect(channelOf('email', draft)).not.toHaveProperty('password');
    expect(channelOf('email', { ...draft, fields: { ...draft.fields, password: 'new' } })).toMatchObject({
      password: 'new',
    });
    expect(channelOf('email', { ...draft, cleared: ['password'] })).toMatchObject({ password: null });
  });

  it('says of another provider only what that one is told', () => {
    const draft = {
      ...read(SMTP),
      provider: 'http' as const,
      fields: { url: ' https://mail.example/send ' },
    };
    const written = channelOf('email', draft);
    expect(written).toMatchObject({ provider: 'http', url: 'https://mail.example/send' });
    expect(written).not.toHaveProperty('host');
  });

  it('begins with what its channel can be sent by', () => {
    expect(channelOf('sms', { ...newChannel('sms'), from: '+56961234567' })).toMatchObject({
      provider: 'twilio',
      base_url: 'https://api.twilio.com',
      account_sid: null,
      max_per_second: 50,
    });
    expect(channelOf('in_app', newChannel('in_app'))).toMatchObject({ provider: 'inbox', from: null });
  });

  it('tells a provider of pushes where it is and keeps its key, a file, as it was pasted', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n';
    const draft = {
      ...newChannel('push'),
      provider: 'apns' as const,
      fields: { team_id: 'T1', private_key: key },
    };
    expect(channelOf('push', draft)).toMatchObject({
      team_id: 'T1',
      environment: 'production',
      base_url: null,
      private_key: key.trim(),
    });
    expect(channelOf('push', newChannel('push'))).toMatchObject({
      provider: 'fcm',
      token_url: 'https://oauth2.googleapis.com/token',
    });
  });

  it('is left alone where its provider is not known here', () => {
    expect(draftOf({ ...SMTP, provider: 'of_a_later_release' })).toBeUndefined();
  });
});

it('shows of a secret that it is set, and of a refused account since when', () => {
  expect(secretsOf(SMTP)).toEqual([{ name: 'password', secret: SMTP.password }]);
  expect(refusalOf(SMTP)).toBeUndefined();
  const misconfigured = { since: '2026-11-23T10:00:00.000Z', stage: 'auth', code: 535 };
  expect(refusalOf({ ...SMTP, misconfigured })).toEqual({ ...misconfigured, code: '535' });
});
