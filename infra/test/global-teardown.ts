import { dropTemplates, endTestServices } from './global-setup.ts';

interface Run {
  /** Ends what the files of a run in one process shared (libs/testing/src/shared-platform.ts). */
  [AFTER_RUN]?: () => Promise<void>;
}
const AFTER_RUN = Symbol.for('customer-platform.after-run');

/** Ends what the setup started; a server that stays loses what this run left on it. */
export default async function endServices(): Promise<void> {
  const services = globalThis.testServices;
  globalThis.testServices = undefined;
  try {
    await (globalThis as Run)[AFTER_RUN]?.();
    await globalThis.testPlatform?.close();
    if (!services?.postgres) await dropTemplates();
  } finally {
    if (services) await endTestServices(services);
  }
}
