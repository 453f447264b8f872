import { Injectable } from '@nestjs/common';

/** Tells the verifier of this process that a receipt has come; that of another process looks by itself. */
@Injectable()
export class ReceiptSignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener?.();
  }
}
