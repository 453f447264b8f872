import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/**
 * The surroundings of a spec file: the worker's own globals, no context of its own, so that packages are evaluated once in
 * a worker. Jest writes what is for one file into `global`, which the runner carries over as far as it is needed.
 */
export class WorkerEnvironment {
  constructor({ projectConfig }) {
    this.global = {};
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {}

  /** Null: there is no context, hence no coverage and no modules by Jest. */
  getVmContext() {
    return null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }
}

export { WorkerEnvironment as default };
