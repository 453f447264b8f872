import type { Channel } from '../addresses/channel.js';
import type { SealedSecret, SecretBox } from '../secrets/secret-box.js';
import type { ShownFault } from './channel-faults.js';
import { hostOf, SECRET_FIELDS, type ChannelSetting } from './channel-providers.js';
import type { StoredSecrets, StoredSettings } from './channel-settings.repository.js';

/** A secret as it is shown. */
export interface ShownSecret {
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
  setting: ChannelSetting,
  now: Date,
): Record<string, SealedSecret> {
  const before = previous?.document.channels[channel];
  const sameDestination = before?.provider === setting.provider && hostOf(before) === hostOf(setting);
  const kept = sameDestination ? previous?.secrets[channel] : undefined;
  const merged: Record<string, SealedSecret> = {};
  for (const field of SECRET_FIELDS[setting.provider]) {
    const given = fieldOf(setting, field);
    const stored =
      typeof given === 'string' ? box.seal(given, placeOf(organizationId, channel, field), now) : undefined;
    const result = given === null ? undefined : (stored ?? kept?.[field]);
    if (result) merged[field] = result;
  }
  return merged;
}

/** The channel with its secrets as they may be shown. */
export function showChannel(
  setting: ChannelSetting,
  secrets: StoredSecrets[string] | undefined,
  { webhookUrl, fault }: { webhookUrl: string | null; fault: ShownFault | undefined },
): Record<string, unknown> {
  const shown = Object.fromEntries(
    SECRET_FIELDS[setting.provider].map((field): [string, ShownSecret] => [field, view(secrets?.[field])]),
  );
  return {
    ...setting,
    from: setting.from ?? null,
    ...('reply_to' in setting || setting.provider === 'smtp' ? { reply_to: setting.reply_to ?? null } : {}),
    ...(setting.provider === 'smtp' ? { username: setting.username ?? null } : {}),
    ...shown,
    webhook_url: webhookUrl,
    misconfigured: fault ?? null,
  };
}

/** The channel as it is stored: what is secret stands elsewhere, what is derived nowhere. */
export function withoutSecrets<T extends ChannelSetting>(setting: T): T {
  const copy = { ...setting };
  for (const field of [...SECRET_FIELDS[setting.provider], 'webhook_url', 'misconfigured'])
    delete (copy as Record<string, unknown>)[field];
  return copy;
}

function fieldOf(setting: ChannelSetting, field: string): unknown {
  return (setting as Readonly<Record<string, unknown>>)[field];
}

function view(secret: SealedSecret | undefined): ShownSecret {
  return {
    set: secret !== undefined,
    fingerprint: secret?.fingerprint ?? null,
    updated_at: secret?.updated_at ?? null,
  };
}
