/** Wakes a job of this process as soon as there is work for it. A job of another process finds the work at its next look. */
export abstract class JobSignal {
  private listener: (() => void) | undefined;

  /** Calls `listener` with each `raise`, in place of the listener before. */
  listen(listener: () => void): void {
    this.listener = listener;
  }

  /** Says that there is work. */
  raise(): void {
    this.listener?.();
  }
}
