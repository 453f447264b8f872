/** What says that a person is there. Pointers that only move do not: browsers report that for a layout that changed. */
const INPUTS = ['pointerdown', 'keydown', 'wheel'] as const;
/** Other tabs are told no more often. */
const TOLD_EVERY_MS = 5_000;
const INPUT = 'input';

/** When somebody last touched the Console, in any of the tabs of this browser. */
export class Attention {
  private last: number;
  private told = 0;
  private readonly tabs = new BroadcastChannel('console-attention');
  private readonly waiting = new Set<() => void>();

  /** Opening the page is a person's, too. */
  constructor(
    page: EventTarget,
    private readonly now: () => number,
  ) {
    this.last = now();
    for (const type of INPUTS)
      page.addEventListener(type, () => this.touched(), { capture: true, passive: true });
    this.tabs.addEventListener('message', ({ data }) => {
      if (data === INPUT) this.heard();
    });
  }

  /** Whether there was any within so long. */
  within(ms: number): boolean {
    return this.now() - this.last <= ms;
  }

  /** Resolves with the next. */
  next(): Promise<void> {
    return new Promise((done) => this.waiting.add(done));
  }

  /** Nothing is heard any more. */
  close(): void {
    this.tabs.close();
  }

  private touched(): void {
    this.heard();
    if (this.last - this.told < TOLD_EVERY_MS) return;
    this.told = this.last;
    this.tabs.postMessage(INPUT);
  }

  private heard(): void {
    this.last = this.now();
    for (const done of this.waiting) done();
    this.waiting.clear();
  }
}
