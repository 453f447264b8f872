import { backgroundWork, type BackgroundWork } from './background-work.js';

/**
 * A loop that goes on for as long as its process, for work that cannot rest between passes as a `PollingJob` does. Each turn
 * rests by itself, and hears its own failures.
 */
export class SteadyLoop {
  constructor(work: BackgroundWork) {
    backgroundWork.note(work);
  }

  /** Takes turns until the process stops. @throws what a turn throws */
  async run(isStopping: () => boolean, turn: () => Promise<void>): Promise<void> {
    // eslint-disable-next-line house/no-endless-turns, house/registered-work -- a process does this for as long as it runs; stopping it ends the loop
    while (!isStopping()) await turn();
  }
}
