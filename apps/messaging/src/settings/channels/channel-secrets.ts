import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { SealedSecret, SecretBox } from '../../vocabulary/secrets/secret-box.js';
import type { ShownFault } from './channel-faults.js';
import type { ChannelSetting, Provider } from '../../providers/provider.js';
import { DERIVED_FIELDS } from './channel-shapes.js';
import type { StoredSecrets, StoredSettings } from './channel-settings.repository.js';

/** A secret as it is shown. */
interface ShownSecret {
  readonly set: boolean;
  readonly fingerprint: string | null;
  readonly updated_at: string | null;
}

/** Where a secret belongs; part of what it is sealed with. */
export function placeOf(organizationId: string, channel: string, field: string): string {
  return `${organizationId}/${channel}/${field}`;
}

/**
 * The secrets of a channel after a PUT: a text replaces, null clears, absent keeps, unless the secret would now go to
 * another provider or host than the one it was given for.
 */
export function mergeSecrets(
  box: SecretBox,
  previous: StoredSettings | undefined,
  { organizationId, channel }: { organizationId: string; channel: Channel },
  { setting, provider }: { readonly setting: ChannelSetting; readonly provider: Provider },
  now: Date,
): Record<string, SealedSecret> {
  const before = previous?.document.channels[channel];
  const sameDestination =
    before?.provider === provider.name && hostsOf(provider, before) === hostsOf(provider, setting);
  const kept = sameDestination ? previous?.secrets[channel] : undefined;
  const merged: Record<string, SealedSecret> = {};
  for (const field of Object.keys(provider.secrets)) {
    const given = setting[field];
    const stored =
      typeof given === 'string' ? box.seal(given, placeOf(organizationId, channel, field), now) : undefined;
    const result = given === null ? undefined : (stored ?? kept?.[field]);
    if (result) merged[field] = result;
  }
  return merged;
}

/** The channel with its secrets as they may be shown; a field without a value is null. */
export function showChannel(
  setting: ChannelSetting,
  provider: Provider | undefined,
  secrets: StoredSecrets[string] | undefined,
  derived: {
    readonly channel: Channel;
    readonly webhookUrl: string | null;
    readonly fault: ShownFault | undefined;
  },
): Record<string, unknown> {
  const names = Object.keys(provider?.secrets ?? {});
  const shown = names.map((field): [string, ShownSecret] => [field, view(secrets?.[field])]);
  return {
    ...Object.fromEntries(Object.keys(provider?.fields ?? {}).map((field) => [field, null])),
    ...setting,
    from: setting.from ?? null,
    ...(derived.channel === 'email' ? { reply_to: setting.reply_to ?? null } : {}),
    ...Object.fromEntries(shown),
    webhook_url: derived.webhookUrl,
    misconfigured: derived.fault ?? null,
  };
}

/** The channel as it is stored: what is secret stands elsewhere, what is derived nowhere. */
export function withoutSecrets(setting: ChannelSetting, provider: Provider): ChannelSetting {
  const left = new Set<string>([...Object.keys(provider.secrets), ...DERIVED_FIELDS]);
  return Object.fromEntries(Object.entries(setting).filter(([field]) => !left.has(field))) as ChannelSetting &
    object;
}

/** Where secrets are sent to: one given for one host is never shown to another. */
function hostsOf(provider: Provider, setting: ChannelSetting): string {
  return provider
    .destinations(setting)
    .map(({ address }) => hostOf(address))
    .join(' ');
}

/** The host of a web address, or the host itself. */
export function hostOf(address: string): string {
  return URL.canParse(address) && address.includes('://') ? new URL(address).hostname : address.toLowerCase();
}

function view(secret: SealedSecret | undefined): ShownSecret {
  return {
    set: secret !== undefined,
    fingerprint: secret?.fingerprint ?? null,
    updated_at: secret?.updated_at ?? null,
  };
}
