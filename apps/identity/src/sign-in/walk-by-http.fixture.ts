import { Browser, CALLBACK, ISSUER } from '../oauth/browser.fixture.js';
import { HostileProvider } from '../sso-connections/hostile-provider.fixture.js';
import { SsoBench } from '../sso-connections/sso-bench.fixture.js';
import { PageVisitor, type Shown } from './page-visitor.fixture.js';
import type { Act, WalkBrowser, WalkGround } from './walk-browser.fixture.js';

/** Walks without a browser's own program: quick enough for every pair. */
export class HttpGround implements WalkGround {
  readonly origin = ISSUER;
  readonly callback = CALLBACK;
  readonly client = {};

  private constructor(
    readonly sso: SsoBench,
    readonly provider: HostileProvider,
  ) {}

  static async start(): Promise<HttpGround> {
    const [sso, provider] = await Promise.all([SsoBench.start(), HostileProvider.start()]);
    return new HttpGround(sso, provider);
  }

  browser(from: string): Promise<WalkBrowser> {
    const visitor = new PageVisitor(new Browser(this.sso.identity, { from }), ISSUER);
    return Promise.resolve(new HttpWalker(visitor, this.provider));
  }

  async end(): Promise<void> {
    await this.sso.end();
    await this.provider.close();
  }
}

class HttpWalker implements WalkBrowser {
  private shown: Shown | undefined;
  private before: (() => Promise<Shown>) | undefined;

  constructor(
    private readonly visitor: PageVisitor,
    private readonly provider: HostileProvider,
  ) {}

  open(address: string): Promise<Shown> {
    return this.see(this.visitor.open(address, { stay: true }));
  }

  act(act: Act): Promise<Shown> {
    const taken = this.taken(act);
    this.before = taken;
    return this.see(taken());
  }

  async atOnce(act: Act): Promise<Shown> {
    const taken = this.taken(act);
    const [, last] = await Promise.all([taken(), taken()]);
    return this.see(Promise.resolve(last));
  }

  async afterLostAnswer(act: Act): Promise<Shown> {
    const taken = this.taken(act);
    const knows = this.visitor.browser.copy();
    await taken();
    this.visitor.browser.become(knows);
    return this.see(taken());
  }

  async back(act: Act): Promise<Shown> {
    const taken = this.taken(act);
    await taken();
    return this.see((this.before ?? taken)());
  }

  tab(): Promise<WalkBrowser> {
    return Promise.resolve(new HttpWalker(this.visitor, this.provider));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async see(shown: Promise<Shown>): Promise<Shown> {
    this.shown = await shown;
    return this.shown;
  }

  /** Makes the act on the present page, to be done once or more. */
  private taken(act: Act): () => Promise<Shown> {
    const page = this.shown;
    if (page === undefined) throw new Error('Nothing is shown yet.');
    if (act === 'wait') return () => this.visitor.open(this.whereItLeads(page), { stay: true });
    if ('link' in act) return () => this.visitor.open(act.link, { stay: true });
    return () => this.visitor.send(page, act.form, act.fields, { stay: true });
  }

  /** The provider is not asked: where it sends the browser that comes to it. */
  private whereItLeads({ refresh = '' }: Shown): string {
    return refresh.startsWith(this.provider.issuer)
      ? this.provider.authorize(new URL(refresh)).href
      : refresh;
  }
}
