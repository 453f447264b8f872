import { isMissingFile, renew, watchFiles, type RenewablePage } from './missing-files.ts';

/** A tab: its page is of one release, and is loaded anew as the one that is served then. */
class FakeTab implements RenewablePage {
  reloads = 0;
  private readonly kept = new Map<string, string>();
  private running: string;

  constructor(private readonly served: () => string | undefined) {
    this.running = served() ?? '';
  }

  readonly location = {
    reload: (): void => {
      this.reloads += 1;
      this.running = this.served() ?? '';
    },
  };
  readonly sessionStorage = {
    getItem: (key: string) => this.kept.get(key) ?? null,
    setItem: (key: string, value: string) => void this.kept.set(key, value),
  };
  readonly document = {
    querySelector: <T>(): T => ({ src: `https://here/console/assets/index-${this.running}.js` }) as T,
  };
  readonly fetch: typeof fetch = () => {
    const release = this.served();
    return release === undefined
      ? Promise.reject(new TypeError('Failed to fetch'))
      : Promise.resolve(new Response('<!doctype html>', { status: release === 'none' ? 503 : 200 }));
  };
}

describe('a page whose file a newer release has replaced', () => {
  it('is loaded anew once, and again after the next release', async () => {
    let release = 'a';
    const tab = new FakeTab(() => release);
    release = 'b';
    expect([await renew(tab), tab.reloads]).toEqual([true, 1]);
    release = 'c';
    expect([await renew(tab), tab.reloads]).toEqual([true, 2]);
  });

  it('is not loaded anew twice from the same files, however often they do not come', async () => {
    const tab = new FakeTab(() => 'a');
    for (const expected of [true, false, false]) expect(await renew(tab)).toBe(expected);
    expect(tab.reloads).toBe(1);
  });

  it('is not sent back and forth between two releases that answer by turns', async () => {
    let turn = 0;
    const tab = new FakeTab(() => ['a', 'b'][turn++ % 2]);
    for (let time = 0; time < 20; time += 1) await renew(tab);
    expect(tab.reloads).toBeLessThanOrEqual(2);
  });

  it('stays as it is offline and while nobody serves the Console, and is loaded anew when one asks after that', async () => {
    let release: string | undefined = 'a';
    const tab = new FakeTab(() => release);
    release = undefined;
    expect([await renew(tab), await renew(tab, true)]).toEqual([false, false]);
    release = 'none';
    expect([await renew(tab), await renew(tab, true), tab.reloads]).toEqual([false, false, 0]);
    release = 'a';
    expect([await renew(tab), await renew(tab), tab.reloads]).toEqual([true, false, 1]);
    expect([await renew(tab, true), tab.reloads]).toEqual([true, 2]);
  });
});

describe('errors of files that do not come', () => {
  it('are known by what the window was told, and by no other answer of theirs to the router', () => {
    const page = new EventTarget();
    watchFiles(page);
    const payload = new TypeError('Failed to fetch dynamically imported module: https://here/a.js');
    expect(isMissingFile(payload)).toBe(false);
    page.dispatchEvent(Object.assign(new Event('vite:preloadError'), { payload }));
    expect(isMissingFile(payload)).toBe(true);
    expect(payload.message).not.toMatch(/^Failed to fetch/);
    expect(isMissingFile(new TypeError('Failed to fetch'))).toBe(false);
  });
});
