/** Secrets by module, and those of the platform as a whole. */
export interface Secrets {
  platform: Record<string, string>;
  modules: Record<string, Record<string, string>>;
}
/** The modules that have a database and a signing key. */
export const MODULES: string[];
/** Makes all secrets anew. */
export function makeSecrets(): Secrets;
/** Lines of a file that Docker Compose reads. */
export function composeEnvironment(secrets: Secrets): string;
/** For each Secret of Kubernetes, the lines of the file that kustomize makes it from. */
export function kubernetesSecrets(secrets: Secrets, postgresHost?: string): Record<string, string>;
