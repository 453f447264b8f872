import { paceOf } from './routes.js';

/** Classes of routes, those that an overloaded module goes on with longest first. */
export type RouteClass = 'essential' | 'ingestion' | 'sending' | 'member' | 'management' | 'bulk';

/** The rules of a class. */
interface ClassRule {
  /** Classes of a lower rank are counted before it is refused, and those of its own: it waits for no higher one. */
  readonly rank: number;
  /** The part of a module's limit that it and those before it may fill; without one it is never refused. */
  readonly part?: number;
  /** Milliseconds that a module may usually take before it counts as overloaded; a class without it tells nothing. */
  readonly tolerableMs?: number;
}

/** Half of the budgets of contract.md §8, for who must keep them at the 95th percentile; people wait out all of theirs. */
export const CLASSES: Readonly<Record<RouteClass, ClassRule>> = {
  essential: { rank: 0 },
  ingestion: { rank: 0, part: 1, tolerableMs: 50 },
  sending: { rank: 0, part: 1, tolerableMs: 150 },
  member: { rank: 0, part: 1, tolerableMs: 75 },
  management: { rank: 1, part: 0.75, tolerableMs: 1_000 },
  bulk: { rank: 2, part: 0.5 },
};

const INGESTION = /^\/v1\/core\/(?:track|identify|batch)$/;
const MEMBER = /^\/v1\/(?:core|messaging)\/members\/me(?:\/|$)/;
/** Signing in, what people and providers say once, and what keeps mail from who wants none. */
const ESSENTIAL = [
  '/oauth/',
  '/.well-known/',
  '/console/',
  '/v1/identity/password-resets',
  '/v1/identity/invitations/accept',
  '/v1/core/members/token-exchange',
  '/v1/messaging/unsubscribe',
  '/v1/messaging/suppressions',
  '/v1/messaging/webhooks/',
];

/** The class of a path, without its query. A page that may not ask learns nothing but that the network failed. */
export function classOf(method: string, path: string): RouteClass {
  if (method === 'OPTIONS') return 'essential';
  if (isIngestion(path)) return 'ingestion';
  if (ESSENTIAL.some((prefix) => path.startsWith(prefix))) return 'essential';
  if (path === '/v1/messaging/sends' && method === 'POST') return 'sending';
  if (MEMBER.test(path)) return 'member';
  return paceOf(path).answerMs === undefined ? 'bulk' : 'management';
}

/** Tells whether it takes events, of pages too. */
export const isIngestion = (path: string): boolean => INGESTION.test(path);
