import { axeFindings, eventually, type Page } from '@customer-platform/testing';

const PATIENCE_MS = 20_000;
/** A page that asks for much, on a machine that is busy besides. */
const SETTLED = { within: 60_000 };

/** The markup that customers and staff write is text, or it sets what {@link Visitor.expectUnbroken} looks for. */
export const MARKUP = '<img src=x onerror="window.hacked=1">';

/** What the browser says of a mail that would run something in its preview, load, send or open it. */
export const PREVIEW_REFUSES =
  /^(Blocked (script execution|form submission|opening) |Unsafe attempt to initiate navigation |.* violates the following Content Security Policy directive)/;

/** Somebody who can sign in. */
export interface Staff {
  email: string;
  name: string;
  password: string;
}

/** A person before a browser, and what the browser complained of. */
export class Visitor {
  /** What the page broke of its own policy, or threw: nothing, on a page that is right. */
  readonly complaints: string[] = [];
  /** In front of the page. */
  readonly dialog: ReturnType<Page['locator']>;
  /** Requests of the page that have no answer yet. */
  private readonly underWay = new Set<object>();
  /** The menu of the Console in Spanish. */
  readonly menu: ReturnType<Page['locator']>;

  constructor(
    readonly page: Page,
    private readonly origin: string,
  ) {
    page.setDefaultTimeout(PATIENCE_MS);
    this.dialog = page.locator('dialog[open]').last();
    this.menu = page.getByRole('navigation', { name: 'Menú' });
    page.on('request', (request) => this.underWay.add(request));
    // A stream lasts: it has answered with its head.
    page.on('response', (response) => {
      if (response.headers()['content-type']?.startsWith('text/event-stream'))
        this.underWay.delete(response.request());
    });
    page.on('requestfinished', (request) => this.underWay.delete(request));
    page.on('requestfailed', (request) => this.underWay.delete(request));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      // A refusal of the API is written to the browser's console, too; pages say it in words.
      const isRefusal = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isRefusal) this.complaints.push(message.text());
    });
  }

  /**
   * By the provider's pages, to the Console's first page.
   * @param organization the name of the one to choose, by who belongs to several
   */
  async signIn(staff: Staff, organization?: string): Promise<void> {
    await this.page.goto(`${this.origin}/console/`);
    await this.giveCredentials(staff);
    if (organization !== undefined) await this.page.getByRole('button', { name: organization }).click();
    await this.page.waitForURL(/\/console\/o\//);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
  }

  /** Arrives at a page of the Console, by the provider's pages where it asks who comes. */
  async arrive(path: string, staff: Staff): Promise<void> {
    await this.page.goto(`${this.origin}/console/${path}`);
    const page = this.page.locator('#content').getByRole('heading', { level: 1 }).first();
    const form = this.page.locator('form:has(input[name="step"])').first();
    await page.or(form).first().waitFor();
    if (await form.isVisible()) await this.giveCredentials(staff);
    await page.waitFor();
  }

  /** On the provider's pages, to whichever comes after the password. */
  async giveCredentials({ email, password }: Staff): Promise<void> {
    await this.page.waitForURL(/\/oauth\/interactions\//);
    await this.page.getByRole('textbox').first().fill(email);
    await this.page.getByRole('button').first().click();
    await this.page.locator('input[type=password]').fill(password);
    await this.page.locator('button').first().click();
  }

  /** Opens a page of the organization that one is in: `contacts?q=ana`. */
  async open(path: string): Promise<void> {
    await this.goTo(path);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
  }

  /** {@link open} of a page that may refuse to be shown. */
  async goTo(path: string): Promise<void> {
    const slug = /\/console\/o\/([a-z0-9-]+)/.exec(this.page.url())?.[1] ?? '';
    await this.page.goto(`${this.origin}/console/o/${slug}/${path}`);
  }

  /** Of the page that is open, by its heading. */
  async isAt(name: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name }).waitFor();
  }

  /** The dialog goes by what it asks for alone, also after a second Escape, which a browser lets no page refuse. */
  async expectNoEscape(): Promise<void> {
    for (let press = 0; press < 3; press += 1) {
      await this.page.keyboard.press('Escape');
      // What a key did is told to the page in a later task.
      await this.page.evaluate(isBusyAfterTwoFrames);
      expect(await this.dialog.count()).toBe(1);
    }
  }

  /** A row of a table that says this. */
  row(hasText: string): ReturnType<Page['locator']> {
    return this.page.getByRole('row').filter({ hasText });
  }

  /** Until the page shows what it has: it waits for no answer, and after two frames more it has asked for nothing else. */
  async settled(): Promise<void> {
    await this.page.waitForLoadState('load');
    await eventually(async () => {
      expect(this.underWay.size).toBe(0);
      expect(await this.page.evaluate(isBusyAfterTwoFrames)).toBe(false);
      expect(this.underWay.size).toBe(0);
    }, SETTLED);
  }

  /** There is nothing to stumble over: axe finds nothing, and one does not have to scroll sideways to read. */
  async expectAccessible(): Promise<void> {
    const where = this.page.url();
    expect([where, await axeFindings(this.page)]).toEqual([where, []]);
    expect([where, await this.isTooWide()]).toEqual([where, false]);
  }

  /** What customers and staff wrote is text: it made nothing, and the browser complained of nothing. */
  async expectUnbroken(): Promise<void> {
    expect(await this.page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await this.page.locator('main img, main script, dialog img, dialog script').count()).toBe(0);
    expect(await this.isTooWide()).toBe(false);
    expect(this.complaints).toEqual([]);
  }

  /** The browser complained of what the test has provoked so far, and of nothing else. */
  expectProvoked(complaint: RegExp): void {
    const complaints = this.complaints.splice(0);
    expect(complaints).not.toEqual([]);
    expect(complaints.filter((text) => !complaint.test(text))).toEqual([]);
  }

  /** Whether one has to scroll the page sideways, or its content, which scrolls by itself. */
  private isTooWide(): Promise<boolean> {
    return this.page.evaluate(() => {
      const { scrollWidth = 0, clientWidth = 0 } = document.getElementById('content') ?? {};
      return scrollWidth > clientWidth || document.documentElement.scrollWidth > window.innerWidth;
    });
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** Runs in the page. */
function isBusyAfterTwoFrames(): Promise<boolean> {
  return new Promise((tell) => {
    const look = (): void => tell(document.querySelector('[aria-busy="true"]') !== null);
    requestAnimationFrame(() => requestAnimationFrame(look));
  });
}
