import { createRequire } from 'node:module';

interface Definition {
  name: string;
  examples: Payload[];
}

interface Payload {
  action?: string;
  sender?: { login: string; id: number; type: string };
  repository?: { full_name: string };
  [member: string]: unknown;
}

/** An event as a line of the replay file. */
export interface EventLine {
  type?: 'identify';
  event?: string;
  external_id: string;
  idempotency_key: string;
  occurred_at: string;
  properties?: Record<string, unknown>;
  traits?: Record<string, unknown>;
}

/** When a payload names no time of its own. */
const FALLBACK = Date.UTC(2026, 10, 1, 12);

/**
 * The real webhook payloads that `@octokit/webhooks-examples` ships, as events: the actor is the contact, the
 * payload the properties. Some payloads have no actor; those are of the repository's owner.
 */
export function webhookEvents(): EventLine[] {
  const definitions = createRequire(import.meta.url)('@octokit/webhooks-examples') as Definition[];
  return definitions.flatMap(({ name, examples }) =>
    examples.map((payload, index) => ({
      event: payload.action === undefined ? name : `${name}_${payload.action}`,
      external_id: actorOf(payload),
      idempotency_key: `octokit-${name}-${index}`,
      occurred_at: timeOf(payload, index),
      properties: payload,
    })),
  );
}

function actorOf(payload: Payload): string {
  const owner = payload.repository?.full_name.split('/')[0];
  return `github-${payload.sender?.login ?? owner ?? 'webhooks'}`;
}

/** The newest `updated_at` or `created_at` that one of the payload's parts states. */
function timeOf(payload: Payload, index: number): string {
  const times = Object.values(payload)
    .flatMap((part) => (typeof part === 'object' && part !== null ? Object.entries(part) : []))
    .filter(([key]) => key === 'updated_at' || key === 'created_at')
    .map(([, value]) => (typeof value === 'number' ? value * 1000 : Date.parse(String(value))))
    .filter((time) => Number.isFinite(time) && time < Date.now());
  return new Date(times.length > 0 ? Math.max(...times) : FALLBACK + index * 60_000).toISOString();
}
