import { PlatformUnderTest } from '@customer-platform/testing';

let platform: Promise<PlatformUnderTest> | undefined;

/** The platform of all journeys, of which some end a process, look into all logs or break a row: nobody else uses it. */
export function journeyPlatform(): Promise<PlatformUnderTest> {
  platform ??= PlatformUnderTest.start({}, { pages: true });
  return platform;
}

/** Ends it, where a journey has started it. */
export async function endJourneys(): Promise<void> {
  await (await platform)?.stop();
}
