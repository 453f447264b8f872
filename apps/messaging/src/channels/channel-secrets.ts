import type { SealedSecret, SecretBox } from '../secrets/secret-box.js';
import { SECRET_FIELDS, type SmtpChannel } from './channel-document.js';
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
  organizationId: string,
  name: 'email',
  channel: SmtpChannel,
  now: Date,
): Record<string, SealedSecret> {
  const before = previous?.document.channels[name];
  const sameDestination = before?.provider === channel.provider && before.host === channel.host;
  const kept = sameDestination ? previous?.secrets[name] : undefined;
  const merged: Record<string, SealedSecret> = {};
  for (const field of SECRET_FIELDS[channel.provider]) {
    const given = channel[field];
    const stored =
      typeof given === 'string' ? box.seal(given, placeOf(organizationId, name, field), now) : undefined;
    const result = given === null ? undefined : (stored ?? kept?.[field]);
    if (result) merged[field] = result;
  }
  return merged;
}

/** The channel with its secrets as they may be shown. */
export function showChannel(channel: SmtpChannel, secrets: StoredSecrets[string] | undefined) {
  const shown = Object.fromEntries(
    SECRET_FIELDS[channel.provider].map((field): [string, ShownSecret] => [field, view(secrets?.[field])]),
  );
  return { ...channel, reply_to: channel.reply_to ?? null, username: channel.username ?? null, ...shown };
}

/** The channel as it is stored: what is secret stands elsewhere. */
export function withoutSecrets(channel: SmtpChannel): SmtpChannel {
  const copy = { ...channel };
  for (const field of SECRET_FIELDS[channel.provider]) delete copy[field];
  return copy;
}

function view(secret: SealedSecret | undefined): ShownSecret {
  return {
    set: secret !== undefined,
    fingerprint: secret?.fingerprint ?? null,
    updated_at: secret?.updated_at ?? null,
  };
}
