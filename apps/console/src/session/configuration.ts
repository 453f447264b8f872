/** What the Console is told by whoever serves it. */
export interface Configuration {
  client_id: string;
  release: string;
}

/** No question that a page cannot begin without waits longer for its answer, in milliseconds. */
export const ANSWERED_WITHIN_MS = 10_000;

/** Reads it from where the pages come from. @throws when it cannot be read in time or is not of this form */
export async function readConfiguration(): Promise<Configuration> {
  const response = await fetch('/console/config.json', {
    credentials: 'omit',
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
  });
  const read = (await response.json()) as Partial<Configuration>;
  if (!response.ok || typeof read.client_id !== 'string' || typeof read.release !== 'string')
    throw new Error('The configuration of the Console cannot be read');
  return { client_id: read.client_id, release: read.release };
}
