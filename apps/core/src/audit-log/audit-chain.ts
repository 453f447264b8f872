import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AuditItem } from './audit-item.js';

/** What stands before the first row of every chain. */
export const GENESIS: Buffer = Buffer.alloc(32);

/** core.md §11: SHA-256(prev_hash ‖ JCS(row without `prev_hash` and `hash`)), JCS being RFC 8785. */
export function hashOf(previous: Uint8Array, item: AuditItem): Buffer {
  const text = canonicalize(item);
  if (text === undefined) throw new Error('An audit row has no canonical form');
  return createHash('sha256').update(previous).update(text, 'utf8').digest();
}

/** A row at its place in the chain. */
export interface ChainedItem {
  readonly item: AuditItem;
  readonly prevHash: Buffer;
  readonly hash: Buffer;
}

/** The end of a chain. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: Buffer;
}

/** What a chain is found to be: whole, or broken at the first place where it is not what it was. */
export type Finding =
  | { readonly status: 'intact' }
  | { readonly status: 'broken'; readonly atSeq: number; readonly what: Damage };

/** How a chain can be broken. */
export type Damage =
  /** The row is not what its hash says. */
  | 'row_altered'
  /** The row does not follow from the row before it. */
  | 'link_broken'
  /** There is no row of this number. */
  | 'row_missing'
  /** The chain is not what a signed checkpoint says it was. */
  | 'checkpoint_contradicted'
  /** The checkpoint is not signed by a key of ours. */
  | 'checkpoint_forged'
  /** Rows stand behind the end that is known of the chain. */
  | 'head_contradicted';

/** A checkpoint whose signature was examined. */
export interface ExaminedCheckpoint {
  readonly seq: number;
  readonly hash: Buffer;
  readonly genuine: boolean;
}

/**
 * Goes along a chain row by row, from a head that is believed (the genesis, or a signed checkpoint), and holds it to
 * its checkpoints and to its known end. The first contradiction is the finding.
 */
export class ChainWalk {
  private at: { seq: number; hash: Buffer };
  private found: Finding = { status: 'intact' };
  private readonly checkpoints: ExaminedCheckpoint[];

  constructor(from: ChainHead = { seq: 0, hash: GENESIS }, checkpoints: readonly ExaminedCheckpoint[] = []) {
    this.at = { ...from };
    this.checkpoints = checkpoints.filter(({ seq }) => seq > from.seq).sort((a, b) => a.seq - b.seq);
  }

  /** Where the walk is. */
  get head(): ChainHead {
    return this.at;
  }

  /** What was found so far. */
  get finding(): Finding {
    return this.found;
  }

  /** The next row in the order of `seq`. False once the chain is found broken. */
  take({ item, prevHash, hash }: ChainedItem): boolean {
    const seq = this.at.seq + 1;
    if (item.seq !== seq) return this.broken(seq, item.seq > seq ? 'row_missing' : 'link_broken');
    if (!prevHash.equals(this.at.hash)) return this.broken(seq, 'link_broken');
    if (!hashOf(prevHash, item).equals(hash)) return this.broken(seq, 'row_altered');
    this.at = { seq, hash };
    return this.holdsCheckpoints();
  }

  /** After the last row: the chain must end where it is known to end, and behind its last checkpoint. */
  end(head: ChainHead): Finding {
    if (this.found.status === 'broken') return this.found;
    const [ahead] = this.checkpoints;
    if (ahead && !ahead.genuine) this.broken(ahead.seq, 'checkpoint_forged');
    else if (ahead || this.at.seq < head.seq) this.broken(this.at.seq + 1, 'row_missing');
    else if (this.at.seq > head.seq) this.broken(head.seq + 1, 'head_contradicted');
    else if (!this.at.hash.equals(head.hash)) this.broken(head.seq, 'head_contradicted');
    return this.found;
  }

  private holdsCheckpoints(): boolean {
    for (let next = this.checkpoints[0]; next?.seq === this.at.seq; next = this.checkpoints[0]) {
      if (!next.genuine) return this.broken(next.seq, 'checkpoint_forged');
      if (!next.hash.equals(this.at.hash)) return this.broken(next.seq, 'checkpoint_contradicted');
      this.checkpoints.shift();
    }
    return true;
  }

  private broken(atSeq: number, what: Damage): false {
    if (this.found.status === 'intact') this.found = { status: 'broken', atSeq, what };
    return false;
  }
}
