import { dropTemplates, endTestServices } from './global-setup.ts';

/** Ends what the setup started; a server that stays loses what this run left on it. */
export default async function endServices(): Promise<void> {
  const services = globalThis.testServices;
  globalThis.testServices = undefined;
  try {
    if (!services?.postgres) await dropTemplates();
  } finally {
    if (services) await endTestServices(services);
  }
}
