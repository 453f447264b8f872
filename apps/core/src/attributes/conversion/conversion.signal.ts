import { Injectable } from '@nestjs/common';

/** Tells the runner of this process that a conversion has begun; that of another process looks by itself. */
@Injectable()
export class ConversionSignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
