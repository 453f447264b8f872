import { Injectable } from '@nestjs/common';

/** Tells the deliverer of this process, if there is one, that something is due. Others find it by looking regularly. */
@Injectable()
export class DeliverySignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
