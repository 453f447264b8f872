import { normalIdentity } from '../identities/identity-value.js';
import type { IdentifyBody } from '../ingestion/event-schemas.js';
import type {
  ErasedIdentifiers,
  SoughtIdentifier,
} from '../subject-requests/blocklist/erased-identifiers.js';
import type { Transaction } from '@customer-platform/database';
import type { FailedItem, Failure, WorkItem } from './work-item.js';

/** Code of what comes of a person who was erased (core.md §6). */
export const SUBJECT_ERASED = 'subject_erased';

/** Why an event of an erased person has no effect: no replay can help. */
export const ERASURE_FAILURE: Failure = {
  stage: 'resolve',
  code: SUBJECT_ERASED,
  detail: 'The person was erased: nothing is created for the identifiers of the event.',
  attempts: 1,
  closed: SUBJECT_ERASED,
};

/** The event of a dead letter that is run again is one of a person who was erased meanwhile. */
export class SubjectErased extends Error {
  override readonly name = 'SubjectErased';
}

/** The event without what it says and of whom: that it came is counted, and a repeat of it known. */
export function forgotten(item: WorkItem): FailedItem {
  const { organizationId, eventId, kind, receivedAt, day, fingerprint, partition } = item;
  const raw = Buffer.alloc(0);
  return {
    organizationId,
    eventId,
    kind,
    receivedAt,
    day,
    fingerprint,
    partition,
    raw,
    failure: ERASURE_FAILURE,
  };
}

/** The events that failed, those of erased people without what they say: a dead letter would keep it. */
export async function withoutErased(
  tx: Transaction,
  blocklist: ErasedIdentifiers,
  dead: readonly FailedItem[],
): Promise<FailedItem[]> {
  const named = dead.flatMap((item) =>
    item.externalId === undefined
      ? []
      : [{ organizationId: item.organizationId, type: 'external_id', normal: item.externalId, item }],
  );
  const blocked = new Set([...(await blocklist.blocked(tx, named))].map(({ item }) => item));
  return dead.map((item) =>
    blocked.has(item)
      ? { ...item, raw: Buffer.alloc(0), externalId: undefined, failure: closed(item.failure) }
      : item,
  );
}

function closed(failure: Failure): Failure {
  return { ...failure, closed: failure.closed ?? SUBJECT_ERASED };
}

interface Named extends SoughtIdentifier {
  readonly item: WorkItem;
}

/**
 * The events that name an erased person. Asked of those alone that would make a contact or claim an identity, for all
 * of a chunk at once: an event of a contact that is there is not asked for. It must be asked after the owners of the
 * external ids were read: whoever saw an identity no more sees that it is blocked.
 * @param isKnown whether there is a contact of the event's external id
 */
export async function eventsOfErased(
  tx: Transaction,
  blocklist: ErasedIdentifiers,
  items: readonly WorkItem[],
  isKnown: (item: WorkItem) => boolean,
): Promise<Set<WorkItem>> {
  const named = items.flatMap((item) => identifiersOf(item, isKnown(item)));
  const blocked = await blocklist.blocked(tx, named);
  return new Set([...blocked].map(({ item }) => item));
}

function identifiersOf(item: WorkItem, isKnown: boolean): Named[] {
  const { organizationId, body, kind } = item;
  const of = (type: string, normal: string | undefined): Named[] =>
    normal === undefined ? [] : [{ organizationId, type, normal, item }];
  const named = isKnown ? [] : of('external_id', body.external_id);
  if (kind !== 'identify') return named;
  const { traits, identities = [] } = body as IdentifyBody;
  const { email, phone, country: said } = traits;
  const country = typeof said === 'string' ? said.toUpperCase() : null;
  for (const [type, value] of Object.entries({ email, phone }))
    if (typeof value === 'string') named.push(...of(type, normalIdentity(type, value, country)));
  for (const { type, value } of identities) named.push(...of(type, normalIdentity(type, value, country)));
  return named;
}
