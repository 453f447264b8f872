/** Secrets by module, and those of the platform as a whole. */
export interface Secrets {
  platform: Record<string, string>;
  modules: Record<string, Record<string, string>>;
}
/** The modules that have a database and a signing key. */
export const MODULES: string[];
/** Makes all secrets anew. */
export function makeSecrets(): Secrets;
/** A module's next service key, and the public set with it. @throws Error when the set has no key of the module */
export function nextServiceKey(
  module: string,
  publicKeys: string,
): { SERVICE_PUBLIC_KEYS: string; SERVICE_PRIVATE_KEY: string };
/** Lines of a file that Docker Compose reads. */
export function composeEnvironment(secrets: Secrets): string;
/** For each Secret of Kubernetes, the lines of the file that kustomize makes it from. */
export function kubernetesSecrets(secrets: Secrets, postgresHost?: string): Record<string, string>;
