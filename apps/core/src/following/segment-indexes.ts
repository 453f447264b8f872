import { Injectable } from '@nestjs/common';
import { type Transaction, uuids, type WorkerTransaction } from '@customer-platform/database';
import { WeightedCache } from './weighted-cache.js';
import type { SegmentIndex } from '../vocabulary/rules/segment-index.js';
import { liveSegments } from './live-segments.js';

const REVISION = 'SELECT segment_revision($1) AS revision';
const REVISION_NOW = 'SELECT revision FROM segment_revisions WHERE organization_id = $1';

/** One after the other in the order given, which is the same for all who take these locks. */
const REVISIONS = `
  SELECT organization_id, revision
    FROM (SELECT organization_id, segment_revision(organization_id) AS revision
            FROM unnest($1::uuid[]) AS given (organization_id) OFFSET 0) AS organization
   WHERE revision IS NOT NULL`;

const REVISIONS_NOW = `
  SELECT organization_id, revision FROM segment_revisions WHERE organization_id = ANY($1::uuid[])`;

const MIB = 1024 * 1024;
/** Bytes of rules and definitions kept in memory: of those who have much no more than of two or three. */
const KEPT = { most: 20 * MIB, large: 4 * MIB, mostLarge: 12 * MIB };
/** A segment counts as so many bytes at least, and so does an organization without any. */
const LEAST_WEIGHT = 1024;

interface RevisionRow {
  organization_id: string;
  revision: string;
}

/** The segments and definitions of attributes of organizations, kept in memory as long as nobody changes them. */
@Injectable()
export class SegmentIndexes {
  private readonly kept = new WeightedCache<SegmentIndex>(KEPT);

  /**
   * The segments of the transaction's organization, undefined if it has none. They do not change before the
   * transaction ends: whoever changes them waits for it.
   */
  async of(tx: Transaction): Promise<SegmentIndex | undefined> {
    const index = await this.read(tx, REVISION);
    return index?.empty ? undefined : index;
  }

  /**
   * As `of`, of several organizations; those without segments are left out. The transaction may be bound to another
   * organization afterwards.
   */
  async ofAll(tx: WorkerTransaction, organizationIds: readonly string[]): Promise<Map<string, SegmentIndex>> {
    const indexes = await this.readAll(tx, REVISIONS, organizationIds);
    return new Map([...indexes].filter(([, index]) => !index.empty));
  }

  /** As `now`, of several organizations; those that have declared nothing are left out. */
  nowOfAll(tx: WorkerTransaction, organizationIds: readonly string[]): Promise<Map<string, SegmentIndex>> {
    return this.readAll(tx, REVISIONS_NOW, organizationIds);
  }

  /** As `ofAll`, with those that have no segments. */
  heldOfAll(tx: WorkerTransaction, organizationIds: readonly string[]): Promise<Map<string, SegmentIndex>> {
    return this.readAll(tx, REVISIONS, organizationIds);
  }

  /** As `of`, without segments too. */
  held(tx: Transaction): Promise<SegmentIndex | undefined> {
    return this.read(tx, REVISION);
  }

  private async readAll(
    tx: WorkerTransaction,
    statement: string,
    organizationIds: readonly string[],
  ): Promise<Map<string, SegmentIndex>> {
    const asked = [...new Set(organizationIds)].sort();
    const rows = await tx.prepared<RevisionRow>(statement, [uuids(asked)]);
    const indexes = new Map<string, SegmentIndex>();
    for (const { organization_id: organizationId, revision } of rows) {
      let index = this.keptAt(organizationId, revision);
      if (!index) {
        await tx.useOrganization(organizationId);
        index = await this.load(tx);
      }
      indexes.set(organizationId, index);
    }
    return indexes;
  }

  /** As they are now: for the evaluator, which finds at its next turn what is changed meanwhile. */
  async now(tx: Transaction): Promise<SegmentIndex | undefined> {
    return this.read(tx, REVISION_NOW);
  }

  private async read(tx: Transaction, statement: string): Promise<SegmentIndex | undefined> {
    const [row] = await tx.prepared<{ revision: string | null }>(statement, [tx.organizationId]);
    const revision = row?.revision;
    if (revision === null || revision === undefined) return undefined;
    return this.keptAt(tx.organizationId, revision) ?? this.load(tx);
  }

  private keptAt(organizationId: string, revision: string): SegmentIndex | undefined {
    const kept = this.kept.get(organizationId);
    return kept?.revision === revision ? kept : undefined;
  }

  private async load(tx: Transaction): Promise<SegmentIndex> {
    const index = await liveSegments(tx);
    this.kept.keep(tx.organizationId, index, weightOf(index));
    return index;
  }
}

function weightOf({ segments, bytes }: SegmentIndex): number {
  return Math.max(LEAST_WEIGHT * Math.max(1, segments.size), bytes);
}
