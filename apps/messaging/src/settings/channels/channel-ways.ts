import { sameJson } from '@customer-platform/database';
import type { ChannelSetting } from '../../providers/provider.js';
import type { ChannelDocument } from './channel-document.js';
import type { StoredSecrets } from './channel-settings.repository.js';
import { settingsOf } from './platform-channels.js';

/** What decides when and as whom something is sent, and not to whose account it is given. */
const BESIDE_THE_WAY: ReadonlySet<string> = new Set([
  'enabled',
  'from',
  'reply_to',
  'max_per_second',
  'consent_mode',
]);

/** Channels with the secrets that they have of their own. */
export interface ChannelWays {
  readonly channels: ChannelDocument['channels'];
  readonly secrets: StoredSecrets;
}

/** Whether a channel's messages leave the platform: the inbox's stay. */
export const leaves = ({ provider }: Pick<ChannelSetting, 'provider'>): boolean => provider !== 'inbox';

/** Whether messages would go to another account than before by any channel. */
export function otherWays(before: ChannelWays, after: ChannelWays): boolean {
  return settingsOf(after.channels).some(([channel, setting]) => {
    if (!leaves(setting)) return false;
    const known = before.channels[channel];
    return (
      known === undefined ||
      !sameJson(wayOf(known, before.secrets[channel]), wayOf(setting, after.secrets[channel]))
    );
  });
}

function wayOf(setting: ChannelSetting, secrets: StoredSecrets[string] | undefined): object {
  const account = Object.entries(setting).filter(
    ([field, value]) => !BESIDE_THE_WAY.has(field) && value !== undefined && value !== null,
  );
  return { account: Object.fromEntries(account), secrets: printsOf({ '': secrets ?? {} }) };
}

/** The fingerprints of secrets: they stay when these are sealed by another key. */
export function printsOf(secrets: StoredSecrets): object {
  return Object.fromEntries(
    Object.entries(secrets).flatMap(([channel, fields]) =>
      Object.entries(fields).map(([field, { fingerprint }]) => [`${channel}/${field}`, fingerprint]),
    ),
  );
}
