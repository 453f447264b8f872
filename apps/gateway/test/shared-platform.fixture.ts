import { PlatformUnderTest } from '@customer-platform/testing';

let platform: PlatformUnderTest | undefined;

/** Starts the one platform on which all suites of a spec run. */
export async function startSharedPlatform(): Promise<void> {
  platform = await PlatformUnderTest.start();
}

/** The one that runs, from a suite's first `beforeAll` on. */
export function sharedPlatform(): PlatformUnderTest {
  if (!platform) throw new Error('No platform was started');
  return platform;
}

export async function stopSharedPlatform(): Promise<void> {
  await platform?.stop();
}
