import { Injectable } from '@nestjs/common';

/** Whose dispatcher is told: everybody's, that of campaigns, or that of identity's own mail. */
export type DispatchLane = 'general' | 'campaign' | 'identity';

/** Tells the dispatcher of this process, if there is one, that a send is due. Others find it by looking regularly. */
@Injectable()
export class DispatchSignal {
  private readonly listeners = new Map<DispatchLane, () => void>();

  listen(listener: () => void, lane: DispatchLane = 'general'): void {
    this.listeners.set(lane, listener);
  }

  raise(lane: DispatchLane = 'general'): void {
    this.listeners.get(lane)?.();
  }
}
