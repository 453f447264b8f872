import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Instance, Module } from './instances.ts';

/** identity.md §8: 20 requests a second to each instance. */
const EVERY_MS = 50;
/** An answer that takes longer is none. */
const PATIENCE_MS = 10_000;

/** A call that needs one permission of each module. */
const READS: Record<Module, { path: string; permission: string }> = {
  identity: { path: '/v1/identity/permissions?limit=1', permission: 'identity.permissions.read' },
  core: { path: '/v1/core/currencies?limit=1', permission: 'core.catalogs.read' },
  crm: { path: '/v1/crm/notes?limit=1', permission: 'crm.notes.read' },
  loyalty: { path: '/v1/loyalty/rules?limit=1', permission: 'loyalty.rules.read' },
  messaging: { path: '/v1/messaging/templates?limit=1', permission: 'messaging.templates.read' },
};

/** What the calls to all modules need. */
export const READ_PERMISSIONS = Object.values(READS).map(({ permission }) => permission);
/** What sending an event needs. */
export const SEND_PERMISSION = 'core.events.write';

/** Where requests go to. */
export interface Target {
  readonly name: string;
  readonly kind: 'management' | 'ingestion';
  readonly instance: Instance;
  readonly path: string;
}

/** The management route of an instance. */
export function readAt(instance: Instance): Target {
  const { module, which } = instance;
  return { name: `${which} ${module}`, kind: 'management', instance, path: READS[module].path };
}

/** The ingestion route of an instance of core. */
export function trackAt(instance: Instance): Target {
  return { name: `${instance.which} core track`, kind: 'ingestion', instance, path: '/v1/core/track' };
}

/** What came of one request. Times are milliseconds of this process's monotonic clock. */
export interface Observation {
  readonly target: Target;
  readonly began: number;
  readonly ended: number;
  /**
   * `refused`: 401 or 403; `denied`: 503 `authorization_unavailable`; `silent`: no answer. Everything else has passed
   * the authorization, whatever became of it then.
   */
  readonly verdict: 'permitted' | 'refused' | 'denied' | 'silent';
  readonly status: number;
  readonly code: string;
  readonly eventId?: string;
}

/** A steady stream of requests with one credential. */
export class Traffic {
  readonly observations: Observation[] = [];
  private readonly agent = new Agent({ keepAlive: true });
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly open = new Set<Promise<void>>();
  private readonly credential: string;

  constructor(credential: string) {
    this.credential = credential;
  }

  /** From now on 20 requests a second to each of the targets, which do not fall together. */
  start(targets: readonly Target[]): void {
    targets.forEach((target, at) => {
      const begin = (): void => {
        this.timers.push(setInterval(() => this.ask(target), EVERY_MS));
      };
      this.timers.push(setTimeout(begin, (EVERY_MS * at) / targets.length));
    });
  }

  /** What has been answered by each target since an instant. */
  since(instant: number, target: Target): Observation[] {
    return this.observations.filter((each) => each.target === target && each.began >= instant);
  }

  /** Ends the requests and waits for their answers. */
  async stop(): Promise<void> {
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    await Promise.all(this.open);
    this.agent.destroy();
  }

  private ask(target: Target): void {
    const began = performance.now();
    const asked = this.exchange(target).then((answer) => {
      this.observations.push({ target, began, ended: performance.now(), ...judged(answer) });
      this.open.delete(asked);
    });
    this.open.add(asked);
  }

  /** Resolves with status 0 where there is no answer. */
  private exchange(target: Target): Promise<{ status: number; text: string }> {
    const body = target.kind === 'ingestion' ? anEvent() : undefined;
    const { promise, resolve } = Promise.withResolvers<{ status: number; text: string }>();
    const sent = request(target.instance.url + target.path, {
      agent: this.agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${this.credential}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    sent.once('error', () => resolve({ status: 0, text: '' }));
    sent.once('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('error', () => resolve({ status: 0, text: '' }));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    sent.end(body);
    return promise;
  }
}

function anEvent(): string {
  return JSON.stringify({
    event: 'page_viewed',
    external_id: `revocation-${Math.floor(Math.random() * 20)}`,
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
  });
}

function judged({
  status,
  text,
}: {
  status: number;
  text: string;
}): Pick<Observation, 'verdict' | 'status' | 'code' | 'eventId'> {
  const { code = '', event_id: eventId } = parsed(text);
  return { verdict: verdictOf(status, code), status, code, eventId };
}

function verdictOf(status: number, code: string): Observation['verdict'] {
  if (status === 0) return 'silent';
  if (status === 401 || status === 403) return 'refused';
  if (status === 503 && code === 'authorization_unavailable') return 'denied';
  return 'permitted';
}

function parsed(text: string): { code?: string; event_id?: string } {
  try {
    return JSON.parse(text) as { code?: string; event_id?: string };
  } catch {
    return {}; // cut off in its middle: the status says enough
  }
}
