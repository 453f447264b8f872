import { Injectable } from '@nestjs/common';

/** Tells this process that a run has something to do. Others find it by looking regularly. */
@Injectable()
export class RunSignal {
  private listener: () => void = () => undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  raise(): void {
    this.listener();
  }
}
