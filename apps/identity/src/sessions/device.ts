import Bowser from 'bowser';

/** What a browser says of itself; null where it says nothing that can be told. */
interface Device {
  readonly browser: string | null;
  readonly os: string | null;
  readonly type: string | null;
}

/** From a `User-Agent` header. */
export function deviceOf(userAgent: string | null): Device {
  if (!userAgent) return { browser: null, os: null, type: null };
  const { browser, os, platform } = Bowser.parse(userAgent);
  return {
    browser: named(browser.name, browser.version),
    os: named(os.name, os.versionName ?? os.version),
    type: platform.type ?? null,
  };
}

function named(name: string | undefined, version: string | undefined): string | null {
  if (!name) return null;
  return version ? `${name} ${version}` : name;
}
