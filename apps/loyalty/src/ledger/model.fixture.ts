/** A lot as the specification speaks of it. */
interface ModelLot {
  id: string;
  remaining: number;
  /** In which order lots end; Infinity: never. */
  end: number;
  ended: boolean;
  expired: number;
}

interface ModelTransaction {
  kind: 'adjust' | 'spend' | 'reverse';
  points: number;
  /** What it took from lots, or gave them. */
  moved: Map<string, number>;
  reversed: boolean;
}

/** What the ledger of one contact should do, one call after another, in plain words (loyalty.md §3). */
export class ModelLedger {
  readonly lots: ModelLot[] = [];
  private readonly transactions = new Map<string, ModelTransaction>();

  get points(): number {
    return this.lots.reduce((sum, lot) => sum + lot.remaining, 0);
  }

  /** Lots with something in them, or owed. */
  get remaining(): Record<string, number> {
    return Object.fromEntries(
      this.lots.filter((lot) => lot.remaining !== 0).map((lot) => [lot.id, lot.remaining]),
    );
  }

  credit(id: string, points: number, end = Infinity): void {
    this.transactions.set(id, { kind: 'adjust', points, moved: this.open(id, points, end), reversed: false });
  }

  /** Whether there is enough; nothing happens otherwise. */
  canSpend(points: number): boolean {
    return points <= this.points;
  }

  spend(id: string, points: number): void {
    const moved = new Map<string, number>();
    this.take(this.byEnd(), points, moved);
    this.transactions.set(id, { kind: 'spend', points: -points, moved, reversed: false });
  }

  /** What a reversal of the transaction is refused with, or undefined. */
  refusal(id: string): 'already_reversed' | 'not_reversible' | undefined {
    const original = this.transactions.get(id) as ModelTransaction;
    if (original.kind === 'reverse') return 'not_reversible';
    if (original.reversed) return 'already_reversed';
    if (original.points > 0 && original.points - this.expiredOf(id) <= 0) return 'not_reversible';
    return undefined;
  }

  reverse(id: string, originalId: string): void {
    const original = this.transactions.get(originalId) as ModelTransaction;
    original.reversed = true;
    const moved = original.points > 0 ? this.takeBack(originalId, original) : this.giveBack(id, original);
    const points = [...moved.values()].reduce((sum, each) => sum + each, 0);
    this.transactions.set(id, { kind: 'reverse', points, moved, reversed: false });
  }

  /** What is left of a lot goes at its end. */
  expire(id: string): void {
    const lot = this.lots.find((each) => each.id === id);
    if (lot === undefined || lot.ended) return;
    lot.ended = true;
    lot.expired = Math.max(0, lot.remaining);
    lot.remaining -= lot.expired;
  }

  private takeBack(id: string, original: ModelTransaction): Map<string, number> {
    const moved = new Map<string, number>();
    const own = this.lotOf(id);
    const ordered = [own, ...this.byEnd().filter((lot) => lot !== own)];
    const lacking = this.take(ordered, original.points - own.expired, moved);
    own.remaining -= lacking;
    if (lacking > 0) moved.set(id, (moved.get(id) ?? 0) - lacking);
    return moved;
  }

  private giveBack(id: string, original: ModelTransaction): Map<string, number> {
    const moved = new Map<string, number>();
    let late = 0;
    for (const [lotId, points] of original.moved) {
      const lot = this.lotOf(lotId);
      if (lot.ended) late -= points;
      else {
        lot.remaining -= points;
        moved.set(lotId, -points);
      }
    }
    for (const [lotId, points] of late > 0 ? this.open(id, late, 0) : [])
      moved.set(lotId, (moved.get(lotId) ?? 0) + points);
    return moved;
  }

  /** Fills debts, oldest first; the rest is a lot of its own. */
  private open(id: string, points: number, end: number): Map<string, number> {
    const moved = new Map<string, number>();
    let left = points;
    for (const lot of this.lots) {
      const paid = Math.min(Math.max(0, -lot.remaining), left);
      if (paid === 0) continue;
      lot.remaining += paid;
      left -= paid;
      moved.set(lot.id, paid);
    }
    this.lots.push({ id, remaining: left, end, ended: false, expired: 0 });
    if (left > 0) moved.set(id, left);
    return moved;
  }

  private take(lots: readonly ModelLot[], points: number, moved: Map<string, number>): number {
    let lacking = points;
    for (const lot of lots) {
      const taken = Math.min(Math.max(0, lot.remaining), lacking);
      if (taken === 0) continue;
      lot.remaining -= taken;
      lacking -= taken;
      moved.set(lot.id, -taken);
    }
    return lacking;
  }

  private byEnd(): ModelLot[] {
    return [...this.lots].sort((a, b) => (a.end === b.end ? 0 : a.end - b.end));
  }

  private expiredOf(id: string): number {
    return this.lots.find((lot) => lot.id === id)?.expired ?? 0;
  }

  private lotOf(id: string): ModelLot {
    const lot = this.lots.find((each) => each.id === id);
    if (lot === undefined) throw new Error('The model has no such lot');
    return lot;
  }
}
