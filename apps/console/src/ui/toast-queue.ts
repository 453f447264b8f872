/** That something was done, or was not. */
interface Toast {
  title: string;
  /** Why, where it was not. */
  lead?: string;
  /** Takes it back. */
  undo?: (() => void) | undefined;
}

/** What is said before somebody is there to show it is kept until then, in its order. */
export class ToastQueue {
  private readonly waiting: Toast[] = [];
  private show: ((toast: Toast) => void) | undefined;
  private first: (() => void) | undefined;

  say(toast: Toast): void {
    if (this.show !== undefined) return this.show(toast);
    this.waiting.push(toast);
    this.first?.();
  }

  /** Says what was done, with a step back; where that fails it says so, wherever one has gone by then. */
  sayDone(title: string, undo: () => Promise<unknown>, failed: (error: unknown) => Toast): void {
    this.say({ title, undo: () => void undo().catch((error: unknown) => this.say(failed(error))) });
  }

  /** Called when something waits to be shown. */
  onFirst(called: () => void): void {
    this.first = called;
    if (this.waiting.length > 0) called();
  }

  /** Shows all of it from now on. Answers how to end that. */
  shownBy(show: (toast: Toast) => void): () => void {
    this.show = show;
    for (const toast of this.waiting.splice(0)) show(toast);
    return () => (this.show = undefined);
  }
}
