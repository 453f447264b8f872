import { PlatformUnderTest } from '@customer-platform/testing';

let platform: Promise<PlatformUnderTest> | undefined;

/** The platform on which operators' commands are run and secrets are sought: in its logs, too, so that nobody else uses it. */
export function operatedPlatform(): Promise<PlatformUnderTest> {
  platform ??= PlatformUnderTest.start({ messaging: { RETURN_HOST: 'returns.platform.example' } });
  return platform;
}

/** Ends it, where something has started it. */
export async function endOperated(): Promise<void> {
  await (await platform)?.stop();
}
