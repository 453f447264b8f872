import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { SegmentIndex } from './segment-index.js';

const REVISION = 'SELECT segment_revision($1) AS revision';
const REVISION_NOW = 'SELECT revision FROM segment_revisions WHERE organization_id = $1';

/** Organizations whose segments are kept in memory. */
const MOST_KEPT = 500;

/** The segments of organizations, kept in memory as long as nobody changes them. */
@Injectable()
export class SegmentIndexes {
  private readonly kept = new Map<string, SegmentIndex>();

  /**
   * The segments of the transaction's organization, undefined if it has none. They do not change before the
   * transaction ends: whoever changes them waits for it.
   */
  async of(tx: Transaction): Promise<SegmentIndex | undefined> {
    const index = await this.read(tx, REVISION);
    return index?.empty ? undefined : index;
  }

  /** As they are now: for the evaluator, which finds at its next turn what is changed meanwhile. */
  async now(tx: Transaction): Promise<SegmentIndex | undefined> {
    return this.read(tx, REVISION_NOW);
  }

  private async read(tx: Transaction, statement: string): Promise<SegmentIndex | undefined> {
    const [row] = await tx.query<{ revision: string | null }>(statement, [tx.organizationId]);
    const revision = row?.revision;
    return revision === null || revision === undefined ? undefined : this.at(tx, revision);
  }

  private async at(tx: Transaction, revision: string): Promise<SegmentIndex> {
    const { organizationId } = tx;
    const kept = this.kept.get(organizationId);
    this.kept.delete(organizationId);
    const index = kept?.revision === revision ? kept : await SegmentIndex.load(tx);
    // Put last, so that the one that was not asked for the longest is the first to go.
    this.kept.set(organizationId, index);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) break;
      this.kept.delete(oldest);
    }
    return index;
  }
}
