import type { z } from 'zod';

/** The environment does not fit; the message is one sentence that names every bad variable and never a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the variables of `schema` from the environment. An empty variable counts as absent.
 * @throws ConfigError naming every missing or bad variable at once, so that one restart suffices to correct them.
 */
export function readConfig<S extends z.ZodObject>(
  schema: S,
  env: Record<string, string | undefined> = process.env,
): z.infer<S> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name];
    if (value !== undefined && value !== '') given[name] = value;
  }
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const complaints = new Map<string, string>();
  for (const issue of result.error.issues) {
    const name = String(issue.path[0] ?? 'environment');
    if (!complaints.has(name))
      complaints.set(name, name in given ? `${name} ${issue.message}` : `${name} is missing`);
  }
  throw new ConfigError(`The environment is incomplete: ${[...complaints.values()].join('; ')}.`);
}
