import type { ClaimedSend } from './claimed-send.js';
import type { DueGroup } from './claims.js';

/** Sends that are still being prepared after their batch has ended, and the groups whose last batch was slow to prepare. */
export class LateSends {
  /** Their transports, by {@link holdOf}; undefined where there is none. */
  private readonly transports = new Map<string, string | undefined>();
  /** Counts of batches with late sends, by group. */
  private readonly batches = new Map<string, number>();
  private readonly slow = new Set<string>();

  /** Notes that these of a batch are late. @returns what to call when they have been prepared, or have failed */
  add(sends: readonly ClaimedSend[], transportOf: (send: ClaimedSend) => string | undefined): () => void {
    const groups = new Set(sends.map(keyOf));
    for (const send of sends) this.transports.set(holdOf(send), transportOf(send));
    for (const group of groups) {
      this.slow.add(group);
      this.batches.set(group, (this.batches.get(group) ?? 0) + 1);
    }
    return () => {
      for (const group of groups) this.end(group);
      for (const send of sends) this.transports.delete(holdOf(send));
    };
  }

  /** Says by which transport a late send leaves; undefined of one that has none, or is not late. */
  transportOf(send: ClaimedSend): string | undefined {
    return this.transports.get(holdOf(send));
  }

  /** Tells whether late sends of a group are waited for: it is given no more. */
  isWaitedFor(group: DueGroup): boolean {
    return this.batches.has(keyOf(group));
  }

  /** Tells whether the last batch of a group was slow to prepare. */
  isSlow(group: DueGroup): boolean {
    return this.slow.has(keyOf(group));
  }

  /** Judges the groups of a batch that has ended: one without late sends is slow no more. @returns what is not late */
  judge(sends: readonly ClaimedSend[]): ClaimedSend[] {
    const left = sends.filter((send) => !this.transports.has(holdOf(send)));
    const late = new Set(sends.filter((send) => !left.includes(send)).map(keyOf));
    for (const send of left) if (!late.has(keyOf(send))) this.slow.delete(keyOf(send));
    return left;
  }

  private end(group: string): void {
    const left = (this.batches.get(group) ?? 1) - 1;
    if (left > 0) this.batches.set(group, left);
    else this.batches.delete(group);
  }
}

/** Names a send in hand by its claim, too: one whose claim ran out may be in hand twice. */
export function holdOf({ id, claim }: ClaimedSend): string {
  return `${claim}/${id}`;
}

function keyOf({ organizationId, channel, lane }: DueGroup): string {
  return `${organizationId}/${channel}/${String(lane)}`;
}
