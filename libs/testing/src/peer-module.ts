import { ServiceTokens, type ServiceKeys } from '@customer-platform/authorization';
import { Caller, type CallerKey } from './caller.js';
import { serviceKeys } from './service-keys.js';

/** The tokens with which one module calls the internal routes of another. */
export function serviceTokens(module: string, audience: string): Exclude<CallerKey, string> {
  const { SERVICE_PRIVATE_KEY, SERVICE_PUBLIC_KEYS } = serviceKeys(module);
  const tokens = new ServiceTokens(module, {
    SERVICE_PRIVATE_KEY: JSON.parse(SERVICE_PRIVATE_KEY) as unknown,
    SERVICE_PUBLIC_KEYS: JSON.parse(SERVICE_PUBLIC_KEYS) as unknown,
  } as ServiceKeys);
  return (route) => tokens.issue(audience, route);
}

/** A client as which one module calls another, whose registry is there. */
export async function peerModule(module: string, audience: string, internalUrl: string): Promise<Caller> {
  return new Caller(internalUrl, serviceTokens(module, audience), () => true);
}
