import { type Platform, get, request } from './platform.ts';

const PATH = '/v1/messaging/channel-settings';
type Settings = { channels?: Record<string, Record<string, unknown>> } & Record<string, unknown>;

/** Points the organization's e-mail at an SMTP server on this machine; the answer puts the settings back. */
export async function pointMailAt(platform: Platform, port: number): Promise<() => Promise<void>> {
  const before = settable(await get<Settings>(platform, PATH));
  const email = {
    enabled: true,
    provider: 'smtp',
    from: 'Trial <trial@example.com>',
    host: '127.0.0.1',
    port,
    security: 'none',
    max_per_second: 1000,
  };
  await request(platform, 'PUT', PATH, { ...before, channels: { ...before.channels, email } });
  return async () => {
    await request(platform, 'PUT', PATH, before);
  };
}

/** The document without what only the service writes; secrets are left out, which keeps them. */
function settable(settings: Settings): Settings {
  const { id: _id, created_at: _created, updated_at: _updated, ...rest } = settings;
  const written = (key: string, value: unknown): boolean =>
    key !== 'webhook_url' && !(typeof value === 'object' && value !== null && 'fingerprint' in value);
  const channels = Object.entries(settings.channels ?? {}).map(
    ([name, channel]) =>
      [
        name,
        Object.fromEntries(Object.entries(channel).filter(([key, value]) => written(key, value))),
      ] as const,
  );
  return { ...rest, channels: Object.fromEntries(channels) };
}
