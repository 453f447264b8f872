import { Injectable } from '@nestjs/common';

/** Tells the runner of this process that an import was taken; that of another process looks by itself. */
@Injectable()
export class ImportSignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
