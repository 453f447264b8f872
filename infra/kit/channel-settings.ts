import { type Platform, get, request } from './platform.ts';

const PATH = '/v1/messaging/channel-settings';

/** A channel as it is read or given. */
export type Channel = Record<string, unknown>;
type Settings = { channels?: Record<string, Channel> } & Record<string, unknown>;

/** What was set, and the way back. */
interface SetChannels {
  /** The channels as the service shows them now. */
  channels: Record<string, Channel>;
  /** Puts the settings back that were there before. */
  restore: () => Promise<void>;
}

/** Sets channels of the organization, and other parts of its document, beside those that are there. */
export async function setChannels(
  platform: Platform,
  channels: Record<string, Channel>,
  parts: Record<string, unknown> = {},
): Promise<SetChannels> {
  const before = settable(await get<Settings>(platform, PATH));
  const document = { ...before, ...parts, channels: { ...before.channels, ...channels } };
  const { body } = await request(platform, 'PUT', PATH, document);
  return {
    channels: (body as Settings).channels ?? {},
    restore: async () => {
      await request(platform, 'PUT', PATH, before);
    },
  };
}

/** An SMTP server on this machine, as a channel. */
export function localMail(port: number): Channel {
  return {
    enabled: true,
    provider: 'smtp',
    from: 'Trial <trial@example.com>',
    host: '127.0.0.1',
    port,
    security: 'none',
    max_per_second: 1000,
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
