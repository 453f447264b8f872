import { endTestServices } from './global-setup.ts';

/** Ends what the setup started. */
export default async function endServices(): Promise<void> {
  const services = globalThis.testServices;
  globalThis.testServices = undefined;
  if (services) await endTestServices(services);
}
