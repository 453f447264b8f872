import { localMail, setChannels } from './channel-settings.ts';
import type { Platform } from './platform.ts';

/** Points the organization's e-mail at an SMTP server on this machine; the answer puts the settings back. */
export async function pointMailAt(platform: Platform, port: number): Promise<() => Promise<void>> {
  const { restore } = await setChannels(platform, { email: localMail(port) });
  return restore;
}
