import type { ContactProfile } from '../vocabulary/contacts/contact-profile.js';
import type { WorkItem } from '../vocabulary/events/work-item.js';

/** An identity as it stands in a chunk. */
export interface ChunkIdentity {
  readonly organizationId: string;
  readonly id: string;
  readonly contactId: string;
  /** Whose it was before a merge moved it; what comes under it goes back with it when the merge is undone. */
  readonly originId: string | null;
  readonly type: string;
  readonly value: string;
  readonly normal: string;
  readonly firstSeenAt: string;
  lastSeenAt: string;
}

/** A contact as it stands in a chunk, ahead of what is written at its end. */
export interface ChunkContact {
  readonly organizationId: string;
  readonly id: string;
  readonly externalId: string | null;
  /** The event that made it, if one of this chunk did, and the identity by which later events will find it. */
  readonly created?: { readonly by: WorkItem; readonly identity: ChunkIdentity };
  /** Soft-deleted: its events are stored on it without any effect. */
  deleted: boolean;
  version: number;
  /** Loaded only where an identify of the chunk may change it. */
  profile?: ContactProfile;
  /** Whether the profile must be written. */
  changed: boolean;
  seenAt: string;
}

/** Names a value of one organization among those of all whose events a chunk holds. */
export function within(organizationId: string, ...values: readonly string[]): string {
  return [organizationId, ...values].join(' ');
}

/** Instants are texts of one form, so that they sort as they follow each other. */
export function later(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}
