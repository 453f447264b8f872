import type { Page } from '@customer-platform/testing';
import type { Visitor } from './visitor.fixture.js';

type Locator = ReturnType<Page['locator']>;
type File = { name: string; mimeType: string; buffer: Buffer };

/** Somebody with a task, who goes by what the screen shows. A click is a click or an Enter; what is typed is none. */
export class TaskWalk {
  clicks = 0;

  constructor(readonly visitor: Visitor) {}

  get page(): Page {
    return this.visitor.page;
  }

  get dialog(): Locator {
    return this.visitor.dialog;
  }

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }

  /** Chooses in a list or a window of files: it is opened, and a line in it is clicked. */
  async choose(target: Locator, what: string | File): Promise<void> {
    this.clicks += 2;
    if (typeof what === 'object') await target.setInputFiles(what);
    else await target.selectOption(what);
  }

  /** Searches everything by the keyboard, and takes what stands first once it is what is looked for. */
  async find(typed: string, name: string): Promise<void> {
    await this.page.keyboard.press('Control+k');
    await this.page.getByRole('combobox', { name: 'Buscar' }).fill(typed);
    const search = this.page.getByRole('dialog', { name: 'Buscar' });
    // Enter takes the line that is marked, which the first one is as soon as it is there.
    const first = search.getByRole('option').first().and(search.locator('[data-highlighted]'));
    await first.filter({ hasText: name }).waitFor();
    this.clicks += 1;
    await this.page.keyboard.press('Enter');
    await search.waitFor({ state: 'detached' });
  }
}
