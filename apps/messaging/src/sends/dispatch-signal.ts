import { Injectable } from '@nestjs/common';

/** Tells the dispatcher of this process, if there is one, that a send is due. Others find it by looking regularly. */
@Injectable()
export class DispatchSignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
