import type { OrganizationSnapshot } from '@customer-platform/http';
import { toCaller, type ResolvedCaller } from './caller.js';
import type { KeyUseNote } from './key-usage.js';
import { PermissionSets } from './permission-sets.js';
import type { ResolvedCredential } from './protocol.js';

/** Credentials kept: 10,000 organizations with 10 keys each, and room to spare. */
const CAPACITY = 120_000;
/** Epochs kept without a cached credential; more are dropped once no fill can need them. */
const IDLE_EPOCHS = 20_000;

/** The highest epoch seen of an organization, shared by its entries: raising it outdates all of them at once. */
interface KnownOrganization {
  readonly id: string;
  epoch: number;
  entries: number;
  seenAt: number;
  snapshot?: OrganizationSnapshot;
  snapshotEpoch?: number;
}

/** What is known of one credential. Times are milliseconds of the process's monotonic clock. */
export interface CredentialEntry {
  readonly caller: ResolvedCaller;
  readonly organization: KnownOrganization;
  readonly epoch: number;
  /** When the credential ends by itself; infinite when it has no end. */
  readonly endsAt: number;
  /** The last instant at which the registry is known to have granted it; what the outage mode counts from. */
  knownGoodAt: number;
  readonly use: KeyUseNote;
}

/**
 * Least-recently-used cache of resolved credentials by key hash. An entry counts as current only while its epoch is
 * the highest seen of its organization; outdated ones stay, for the outage mode of ingestion alone.
 */
export class CredentialCache {
  private readonly entries = new Map<string, CredentialEntry>();
  private readonly organizations = new Map<string, KnownOrganization>();
  private readonly fills = new Set<{ began: number }>();
  private readonly sets = new PermissionSets();

  constructor(
    private readonly capacity = CAPACITY,
    private readonly idleEpochs = IDLE_EPOCHS,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get(keyHash: string): CredentialEntry | undefined {
    const entry = this.entries.get(keyHash);
    if (entry) {
      this.entries.delete(keyHash);
      this.entries.set(keyHash, entry);
    }
    return entry;
  }

  /** Whether nothing newer than the entry is known of its organization. */
  isCurrent(entry: CredentialEntry): boolean {
    return entry.epoch >= entry.organization.epoch;
  }

  /** The feed, or a fill, told of an epoch. */
  raise(organizationId: string, epoch: number, now: number): KnownOrganization {
    let known = this.organizations.get(organizationId);
    if (!known) {
      known = { id: organizationId, epoch, entries: 0, seenAt: now };
      this.organizations.set(organizationId, known);
    }
    if (epoch > known.epoch) known.epoch = epoch;
    known.seenAt = now;
    return known;
  }

  /** The highest epoch seen of an organization; 0 when none. */
  highestEpoch(organizationId: string): number {
    return this.organizations.get(organizationId)?.epoch ?? 0;
  }

  /** A fill is under way: epochs seen from now on are kept until {@link endFill}, so that it can be judged. */
  beginFill(began: number): { began: number } {
    const fill = { began };
    this.fills.add(fill);
    return fill;
  }

  endFill(fill: { began: number }): void {
    this.fills.delete(fill);
  }

  /** The entry of an answer, without keeping it. `began` is when the question was asked. */
  entryOf(keyHash: string, resolved: ResolvedCredential, began: number): CredentialEntry {
    const organization = this.raise(resolved.organization.id, resolved.epoch, began);
    const previous = this.entries.get(keyHash);
    const { id } = resolved.principal;
    return {
      caller: toCaller(resolved, snapshotOf(organization, resolved), this.sets, keyHash),
      organization,
      epoch: resolved.epoch,
      endsAt: resolved.expires_in_ms === null ? Infinity : began + resolved.expires_in_ms,
      knownGoodAt: began,
      use: previous?.use ?? { organizationId: organization.id, keyId: id, lastUsedAt: 0, pending: false },
    };
  }

  keep(keyHash: string, entry: CredentialEntry): void {
    this.drop(keyHash);
    this.entries.set(keyHash, entry);
    entry.organization.entries += 1;
    const [eldest] = this.entries.keys();
    if (this.entries.size > this.capacity && eldest !== undefined) this.drop(eldest);
  }

  drop(keyHash: string): void {
    const entry = this.entries.get(keyHash);
    if (!entry) return;
    this.entries.delete(keyHash);
    entry.organization.entries -= 1;
  }

  /**
   * Epochs of another incarnation of the registry cannot be compared: every entry is outdated, and serves the outage
   * mode only.
   */
  outdateAll(): void {
    for (const organization of this.organizations.values()) organization.epoch = Infinity;
    this.organizations.clear();
  }

  /**
   * Forgets epochs of organizations without an entry when there are many. A fill begun before an epoch was seen still
   * needs it; one begun later reads it from the registry anyway.
   */
  trim(): void {
    if (this.organizations.size <= this.entries.size + this.idleEpochs) return;
    const earliestFill = Math.min(Infinity, ...[...this.fills].map(({ began }) => began));
    for (const [id, { entries, seenAt }] of this.organizations) {
      if (entries === 0 && seenAt < earliestFill) this.organizations.delete(id);
    }
  }
}

function snapshotOf(organization: KnownOrganization, resolved: ResolvedCredential): OrganizationSnapshot {
  if (organization.snapshot && organization.snapshotEpoch === resolved.epoch) return organization.snapshot;
  organization.snapshot = Object.freeze(resolved.organization);
  organization.snapshotEpoch = resolved.epoch;
  return organization.snapshot;
}
