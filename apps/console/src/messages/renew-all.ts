import { ProblemError } from '@customer-platform/client';
import type { Reading } from '../ui/use-edit.tsx';
import { isPublished, type Template } from './template.ts';

/** How far a renewal is, and what it left as it was. */
export interface Renewal {
  done: number;
  of: number;
  refused: readonly { name: string; id: string; error: ProblemError }[];
}

interface Calls {
  read: (id: string) => Promise<Reading<Template>>;
  renew: (id: string, publish: boolean, ifMatch?: string) => Promise<unknown>;
}

/**
 * Renews one after the other; once `signal` is aborted there is no further one. Whether one may be published is read
 * at its turn, and only what was read is: somebody may have begun a draft of it since.
 * @throws the reason of `signal`; what is no refusal of the API
 */
export async function renewEach(
  users: readonly Pick<Template, 'id' | 'name'>[],
  publish: boolean,
  { read, renew }: Calls,
  signal: AbortSignal,
  tell: (renewal: Renewal) => void,
): Promise<Renewal> {
  const refused: Renewal['refused'][number][] = [];
  const told = (done: number): Renewal => {
    const renewal = { done, of: users.length, refused: [...refused] };
    tell(renewal);
    return renewal;
  };
  for (const [done, { id, name }] of users.entries()) {
    signal.throwIfAborted();
    told(done);
    try {
      if (publish) {
        const { data, etag } = await read(id);
        await renew(id, isPublished(data), etag);
      } else await renew(id, false);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      refused.push({ id, name, error });
    }
  }
  return told(users.length);
}
