import { eventually } from '@customer-platform/testing';
import type { BrowserContext, Locator, Page, Response, Route } from 'playwright-core';
import { HostileProvider } from '../sso-connections/hostile-provider.fixture.js';
import { SsoBench } from '../sso-connections/sso-bench.fixture.js';
import { Shown } from './page-visitor.fixture.js';
import { SignInBench } from './sign-in-bench.fixture.js';
import type { Act, WalkBrowser, WalkGround } from './walk-browser.fixture.js';

const FORWARDED = 'x-forwarded-for';
/** A page is waited for as long as a slow machine may take. */
const PATIENCE = { within: 60_000 };
/** One look at a page; it is looked at again. */
const LOOK = { timeout: 2_000 };
const UNTIL_THERE = { waitUntil: 'commit', timeout: PATIENCE.within } as const;
/** The pace of looks at the page: nothing else tells what comes of a click. */
const CLICK = { noWaitAfter: true, timeout: PATIENCE.within };

/** Walks in Chromium, with an application on this machine: a browser cannot be stopped before where it is redirected. */
export class ChromiumGround implements WalkGround {
  private constructor(
    readonly sso: SsoBench,
    readonly provider: HostileProvider,
    private readonly pages: SignInBench,
  ) {}

  static async start(): Promise<ChromiumGround> {
    const provider = await HostileProvider.start();
    const started: SignInBench[] = [];
    const sso = await SsoBench.start(async (variables) => {
      const pages = await SignInBench.start(variables);
      started.push(pages);
      return pages.identity;
    });
    const [pages] = started;
    if (!pages) throw new Error('The pages were not started.');
    return new ChromiumGround(sso, provider, pages);
  }

  get origin(): string {
    return this.pages.origin;
  }

  get callback(): string {
    return this.pages.callback;
  }

  get client(): object {
    return { type: 'public', redirect_uris: [this.callback] };
  }

  async browser(from: string): Promise<WalkBrowser> {
    const { context, page } = await this.pages.browser({ extraHTTPHeaders: { [FORWARDED]: from } });
    return ChromiumTab.of(context, page, {
      origin: this.origin,
      application: new URL(this.callback).origin,
      from,
    });
  }

  async end(): Promise<void> {
    await this.pages.end();
    await this.sso.dns.close();
    await this.provider.close();
  }
}

interface Place {
  /** The platform's. */
  readonly origin: string;
  /** The address of the application's page from which a person comes. */
  readonly application: string;
  /** The browser's own address. */
  readonly from: string;
}

/** A tab whose pages do not lead on by themselves: the request is stopped, and their link is taken in its place. */
class ChromiumTab implements WalkBrowser {
  /** The last of the pages that were asked for. */
  private answer: Response | undefined;
  /** Counts the pages that were shown. */
  private documents = 0;
  /** The last of them that wanted to lead on by itself. */
  private stopped = 0;
  /** Somebody has done what leads to a further page. */
  private isExpected = false;
  private readonly asked: Route[] = [];

  private constructor(
    private readonly context: BrowserContext,
    private readonly page: Page,
    private readonly place: Place,
  ) {}

  static async of(context: BrowserContext, page: Page, place: Place): Promise<ChromiumTab> {
    const tab = new ChromiumTab(context, page, place);
    page.on('response', (response) => {
      if (response.request().isNavigationRequest()) tab.answer = response;
    });
    page.on('framenavigated', () => {
      tab.documents += 1;
    });
    await page.goto(place.application, UNTIL_THERE);
    await page.route('**/*', (route) => tab.decide(route));
    return tab;
  }

  open(address: string): Promise<Shown> {
    return this.landed(() => this.page.goto(address, UNTIL_THERE));
  }

  act(act: Act): Promise<Shown> {
    return this.landed(() => this.take(act));
  }

  /** The first answer goes to nobody, as with a browser that has asked for the second before it came. */
  atOnce(act: Act): Promise<Shown> {
    return this.landed(
      () => this.take(act),
      (route) => Promise.all([this.exchange(route), route.continue()]),
    );
  }

  /** Who gets no answer still sees the page, and does it again. */
  async afterLostAnswer(act: Act): Promise<Shown> {
    await this.leads(
      () => this.take(act),
      async (route) => {
        await this.exchange(route);
        await route.abort('aborted');
      },
    );
    return this.act(act);
  }

  /**
   * Who comes back to the application goes forward again. A form that led to the page is sent again: a browser whose
   * requests are looked at has no cache, in place of the person who confirms it.
   */
  async back(act: Act): Promise<Shown> {
    await this.act(act);
    const shown = await this.landed(() => this.page.goBack(UNTIL_THERE));
    return shown.status === 0 ? this.landed(() => this.page.goForward(UNTIL_THERE)) : shown;
  }

  async tab(): Promise<WalkBrowser> {
    return ChromiumTab.of(this.context, await this.context.newPage(), this.place);
  }

  close(): Promise<void> {
    return this.context.close();
  }

  private async decide(route: Route): Promise<void> {
    if (!route.request().isNavigationRequest()) return route.continue();
    if (this.isExpected) {
      this.isExpected = false;
      this.asked.push(route);
      return;
    }
    // Held, it would keep everything else about the page waiting.
    await route.abort('aborted');
    this.stopped = this.documents;
  }

  /** Does what asks for another page, and decides what becomes of the request. */
  private async leads(
    cause: () => Promise<unknown>,
    decide: (route: Route) => Promise<unknown>,
  ): Promise<void> {
    this.isExpected = true;
    const asked = async () => decide(await eventually(() => this.request(), PATIENCE));
    await Promise.all([cause(), asked()]);
  }

  private request(): Route {
    const route = this.asked.shift();
    if (!route) throw new Error(`Asks for no page: ${this.page.url()}`);
    return route;
  }

  /** Does what leads to another page, and looks at that one once it is there. */
  private async landed(
    cause: () => Promise<unknown>,
    decide: (route: Route) => Promise<unknown> = (route) => route.continue(),
  ): Promise<Shown> {
    const before = this.documents;
    this.answer = undefined;
    await this.leads(cause, decide);
    return eventually(() => this.look(before), PATIENCE);
  }

  /** Resolves to the page that is shown, once it stays. */
  private async look(before: number): Promise<Shown> {
    const url = new URL(this.page.url());
    if (this.documents === before) throw new Error(`Shows no other page: ${url.href}`);
    if (url.origin === this.place.application) return new Shown(url, 0, '');
    const status = this.answer?.status() ?? 0;
    const isAnswer = this.answer?.url() === url.href && (status < 300 || status >= 400);
    if (!isAnswer) throw new Error(`Shows what was not answered: ${url.href}`);
    await this.page.waitForLoadState('domcontentloaded', LOOK);
    const shown = new Shown(url, status, await this.page.locator('html').innerHTML(LOOK));
    if (shown.refresh !== undefined && this.stopped !== this.documents)
      throw new Error(`Does not lead on by itself: ${url.href}`);
    return shown;
  }

  private async take(act: Act): Promise<void> {
    // A tab behind another one draws nothing, and waits with what is done in it.
    await this.page.bringToFront();
    if (act === 'wait') return this.page.locator('main a').first().click(CLICK);
    if ('link' in act) return this.page.locator(`a[href="${act.link}"]`).first().click(CLICK);
    const form = this.page.locator('form').filter({ has: this.page.locator(`input[value="${act.form}"]`) });
    for (const [name, text] of Object.entries(act.fields)) await fill(form.locator(`[name="${name}"]`), text);
    await form.locator('button').first().click(CLICK);
  }

  /** Has the platform do it, and keeps what it answers from the browser, cookies too. */
  private async exchange(route: Route): Promise<void> {
    const request = route.request();
    const cookies = await this.context.cookies(request.url());
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = { ...request.headers(), [FORWARDED]: this.place.from, cookie };
    const body = request.postData();
    const init = { method: request.method(), headers, ...(body === null ? {} : { body }) };
    const signal = AbortSignal.timeout(PATIENCE.within);
    await (await fetch(request.url(), { ...init, redirect: 'manual', signal })).text();
  }
}

/** Types into what a person can type into. */
async function fill(field: Locator, text: string): Promise<void> {
  if ((await field.isVisible()) && (await field.isEditable())) await field.fill(text);
}
