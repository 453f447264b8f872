import { Injectable } from '@nestjs/common';

/** Tells the runner of this process that an archive is wanted; that of another process looks by itself. */
@Injectable()
export class ArchiveSignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
