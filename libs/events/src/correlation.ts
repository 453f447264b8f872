import { randomUUID } from 'node:crypto';
import { id } from './wire.js';

/**
 * The caller's `X-Correlation-Id` if it is a UUID (in lower case), else a new one (contract.md §1). It is read as the
 * envelope of events reads it back: whatever is taken here, every consumer can read.
 */
export function correlationIdFrom(header: string | string[] | undefined): string {
  const given = header === undefined ? undefined : id.safeParse(header);
  return given?.success ? given.data.toLowerCase() : randomUUID();
}
