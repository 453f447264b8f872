import { Injectable } from '@nestjs/common';

/** Tells the evaluator of this process that there is something to evaluate; that of another process looks by itself. */
@Injectable()
export class SegmentSignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
