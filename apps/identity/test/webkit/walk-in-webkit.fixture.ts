import { ISSUER } from '../../src/oauth/browser.fixture.js';
import { Shown } from '../../src/sign-in/page-visitor.fixture.js';
import type { Act, WalkBrowser, WalkGround } from '../../src/sign-in/walk-browser.fixture.js';
import { HostileProvider } from '../../src/sso-connections/hostile-provider.fixture.js';
import { SsoBench } from '../../src/sso-connections/sso-bench.fixture.js';
import { NavigationProxy } from './navigation-proxy.fixture.js';
import { WebKitProgram } from './webkit-program.fixture.js';

/** Nobody listens there: the proxy answers for the application, as it does for the provider's page. */
const CALLBACK = 'http://127.0.0.1:8081/callback';
const APPLICATION = '<!doctype html><title>The application</title>';

/** Walks in WebKit. */
export class WebKitGround implements WalkGround {
  readonly origin = ISSUER;
  readonly callback = CALLBACK;
  readonly client = { type: 'public', redirect_uris: [CALLBACK] };
  private from = '';
  private tabs = 0;
  private webkit!: WebKitProgram;
  private readonly proxy = new NavigationProxy((url, init) => this.fetches(url, init));

  private constructor(
    readonly sso: SsoBench,
    readonly provider: HostileProvider,
  ) {}

  static async start(): Promise<WebKitGround> {
    const [sso, provider] = await Promise.all([SsoBench.start(), HostileProvider.start()]);
    const ground = new WebKitGround(sso, provider);
    const port = await ground.proxy.listen();
    try {
      ground.webkit = await WebKitProgram.start(port);
      return ground;
    } catch (error) {
      await ground.endBeside();
      throw error;
    }
  }

  browser(from: string): Promise<WalkBrowser> {
    this.from = from;
    this.proxy.forget();
    return Promise.resolve(this.tab());
  }

  async end(): Promise<void> {
    await this.webkit.end();
    await this.endBeside();
  }

  private async endBeside(): Promise<void> {
    await this.proxy.close();
    await this.sso.end();
    await this.provider.close();
  }

  private tab(): WebKitTab {
    this.tabs += 1;
    return new WebKitTab(String(this.tabs), this.webkit, this.proxy, () => this.tab());
  }

  private fetches(
    url: URL,
    init: { method: string; headers: Headers; body: Buffer | null },
  ): Promise<Response> {
    if (url.href.startsWith(CALLBACK))
      return Promise.resolve(new Response(APPLICATION, { headers: { 'content-type': 'text/html' } }));
    if (url.origin === this.provider.issuer)
      return Promise.resolve(Response.redirect(this.provider.authorize(url)));
    if (url.origin !== ISSUER) throw new Error(`Nobody is to be asked for ${url.href}`);
    init.headers.set('x-forwarded-for', this.from);
    const { method, headers, body } = init;
    const sent = { method, headers, body: body === null ? null : new Uint8Array(body) };
    return fetch(this.sso.identity.app.url + url.pathname + url.search, { ...sent, redirect: 'manual' });
  }
}

/** A tab whose pages do not lead on by themselves: the request is held back, and their link is taken in its place. */
class WebKitTab implements WalkBrowser {
  constructor(
    private readonly name: string,
    private readonly webkit: WebKitProgram,
    private readonly proxy: NavigationProxy,
    private readonly opened: () => WalkBrowser,
  ) {}

  open(address: string): Promise<Shown> {
    this.proxy.pass();
    return this.landed(() => this.webkit.tell(this.name, 'open', address));
  }

  act(act: Act): Promise<Shown> {
    this.proxy.pass();
    return this.landed(() => this.take(act));
  }

  atOnce(act: Act): Promise<Shown> {
    this.proxy.twice();
    return this.landed(() => this.take(act));
  }

  /** Who gets no answer still sees the page, and does it again. */
  async afterLostAnswer(act: Act): Promise<Shown> {
    const lost = this.proxy.lose();
    this.take(act);
    await lost;
    return this.act(act);
  }

  async back(act: Act): Promise<Shown> {
    await this.act(act);
    this.proxy.pass();
    return this.landed(() => this.webkit.tell(this.name, 'back'));
  }

  tab(): Promise<WalkBrowser> {
    return Promise.resolve(this.opened());
  }

  close(): Promise<void> {
    this.webkit.tell(this.name, 'forget');
    return Promise.resolve();
  }

  /** Does what leads to another page, and looks at that one once it is there. */
  private async landed(cause: () => void): Promise<Shown> {
    const loaded = this.webkit.loaded(this.name);
    cause();
    const { url, html } = await loaded;
    if (url.origin !== ISSUER) return new Shown(url, 0, '');
    const shown = new Shown(url, this.proxy.statusOf(url), html);
    if (shown.refresh !== undefined) await this.proxy.held();
    return shown;
  }

  private take(act: Act): void {
    this.webkit.tell(this.name, 'run', scriptOf(act));
  }
}

function scriptOf(act: Act): string {
  if (act === 'wait') return `document.querySelector('main a').click()`;
  if ('link' in act)
    return `[...document.links].find((a) => a.getAttribute('href') === ${JSON.stringify(act.link)}).click()`;
  // A person types into what is seen and not fixed.
  return `{
    const form = [...document.forms].find(({ elements }) =>
      [...elements].some(({ name, value }) => name === 'step' && value === ${JSON.stringify(act.form)}));
    for (const [name, text] of Object.entries(${JSON.stringify(act.fields)})) {
      const field = form.elements.namedItem(name);
      if (field.type !== 'hidden' && !field.readOnly) field.value = text;
    }
    form.querySelector('button').click();
  }`;
}
