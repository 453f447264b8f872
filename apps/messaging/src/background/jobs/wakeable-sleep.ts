/** How a loop rests between two looks: as long as it wants, or until it is woken. */
export class WakeableSleep {
  private end: (() => void) | undefined;
  private woken = false;

  /** Ends the sleep; one that has not begun ends at once. */
  wake(): void {
    this.woken = true;
    this.end?.();
  }

  /** Called before a look, which sees whatever has woken the loop until now. */
  forgetWakes(): void {
    this.woken = false;
  }

  async sleep(milliseconds: number): Promise<void> {
    if (this.woken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.end = undefined;
  }
}
