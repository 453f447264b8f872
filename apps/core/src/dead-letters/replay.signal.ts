import { Injectable } from '@nestjs/common';

/** Tells the replayer of this process that a letter was queued; that of another process looks by itself. */
@Injectable()
export class ReplaySignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
