/** A lot as the specification speaks of it. */
interface ModelLot {
  id: string;
  /** The contact on which it was opened. */
  contact: number;
  remaining: number;
  /** When it ends; Infinity: never. */
  end: number;
  ended: boolean;
  expired: number;
  /** Of one that a reversal opened: the points of ended lots that came back, in their order. */
  from: readonly [lotId: string, points: number][];
}

interface ModelTransaction {
  /** The contact that it was posted on. */
  contact: number;
  points: number;
  isReversal: boolean;
  /** What it took from lots, or gave them. */
  moved: Map<string, number>;
  reversed: boolean;
}

const RETURNED_FOR_MS = 30 * 86_400_000;

/**
 * What the ledger of one contact, and of those it is merged with, should do, one call after another, in plain words
 * (loyalty.md §3, §5). Contacts are numbers; the last of a family is the survivor of all.
 */
export class ModelLedger {
  readonly lots: ModelLot[] = [];
  private readonly transactions = new Map<string, ModelTransaction>();
  private family = [0];
  private contacts = 1;
  private readonly erased = new Set<number>();

  /** Who posts: the survivor. */
  get contact(): number {
    return this.family.at(-1) ?? 0;
  }

  /** How many can be undone. */
  get merges(): number {
    return this.family.length - 1;
  }

  /** What the survivor has. */
  get points(): number {
    return this.visible(this.contact).reduce((sum, lot) => sum + lot.remaining, 0);
  }

  /** All of the family become a new contact's. Answers the new one. */
  merge(): number {
    this.family.push(this.contacts);
    return this.contacts++;
  }

  /** What was opened on the survivor stays with it; answers it. */
  undo(): number | undefined {
    return this.merges > 0 ? this.family.pop() : undefined;
  }

  /** All of the family are forgotten; what is left of their lots still ends. Answers the contact that comes after them. */
  erase(): number {
    for (const contact of this.family) this.erased.add(contact);
    this.family = [this.contacts];
    return this.contacts++;
  }

  /** Lots with something in them, or owed. */
  get remaining(): Record<string, number> {
    return Object.fromEntries(
      this.lots.filter((lot) => lot.remaining !== 0).map((lot) => [lot.id, lot.remaining]),
    );
  }

  /** What is left of lots goes at their end. Answers of how many something was left. */
  comeTo(now: number): number {
    let expired = 0;
    for (const lot of this.lots.filter((each) => !each.ended && each.end <= now)) {
      lot.ended = true;
      lot.expired = Math.max(0, lot.remaining);
      lot.remaining -= lot.expired;
      if (lot.expired > 0) expired += 1;
    }
    return expired;
  }

  credit(id: string, points: number, end: number): void {
    const { contact } = this;
    const moved = this.open({ id, contact, points, end, from: [] });
    this.transactions.set(id, { contact, points, isReversal: false, moved, reversed: false });
  }

  /** Whether there is enough; nothing happens otherwise. */
  canTake(points: number): boolean {
    return points <= this.points;
  }

  debit(id: string, points: number): void {
    const moved = new Map<string, number>();
    const { contact } = this;
    this.take(this.byEnd(contact), points, moved);
    this.transactions.set(id, { contact, points: -points, isReversal: false, moved, reversed: false });
  }

  /** The debits, or the credits, that could be reversed were there something left of them. */
  unreversed(sign: 1 | -1): string[] {
    return [...this.transactions]
      .filter(([, each]) => !each.isReversal && !each.reversed && Math.sign(each.points) === sign)
      .map(([id]) => id);
  }

  /** What a reversal of the transaction is refused with, or undefined. */
  refusal(id: string): 'already_reversed' | 'not_reversible' | undefined {
    const original = this.transactionOf(id);
    if (original.isReversal || this.erased.has(original.contact)) return 'not_reversible';
    if (original.reversed) return 'already_reversed';
    if (original.points > 0 && original.points - this.expiredOf(id) <= 0) return 'not_reversible';
    return undefined;
  }

  reverse(id: string, originalId: string, now: number): void {
    const original = this.transactionOf(originalId);
    original.reversed = true;
    const moved =
      original.points > 0 ? this.takeBack(originalId, original) : this.giveBack(id, original, now);
    const points = [...moved.values()].reduce((sum, each) => sum + each, 0);
    const { contact } = original;
    this.transactions.set(id, { contact, points, isReversal: true, moved, reversed: false });
  }

  /** What expired of a credit: of its lot, and its part of what expired of the lots in which points of it came back. */
  private expiredOf(lotId: string): number {
    const own = this.lots.find((each) => each.id === lotId)?.expired ?? 0;
    return this.lots.reduce((sum, lot) => sum + this.partOf(lot, lotId), own);
  }

  /** Those that came back last expire first, those of one call in the order of their lots. */
  private partOf(lot: ModelLot, lotId: string): number {
    if (!lot.from.some(([id]) => id === lotId)) return 0;
    let left = this.expiredOf(lot.id);
    for (const [id, points] of lot.from.toReversed()) {
      const part = Math.min(points, left);
      if (id === lotId) return part;
      left -= part;
    }
    return 0;
  }

  private takeBack(id: string, original: ModelTransaction): Map<string, number> {
    const moved = new Map<string, number>();
    const expired = this.expiredOf(id);
    const own = this.lotOf(id);
    const lacking = this.take(
      [own, ...this.byEnd(original.contact).filter((lot) => lot !== own)],
      original.points - expired,
      moved,
    );
    own.remaining -= lacking;
    if (lacking > 0) moved.set(id, (moved.get(id) ?? 0) - lacking);
    return moved;
  }

  private giveBack(id: string, original: ModelTransaction, now: number): Map<string, number> {
    const moved = new Map<string, number>();
    const from: [string, number][] = [];
    for (const [lotId, points] of [...original.moved].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const lot = this.lotOf(lotId);
      if (lot.ended) from.push([lotId, -points]);
      else {
        lot.remaining -= points;
        moved.set(lotId, -points);
      }
    }
    const late = from.reduce((sum, [, points]) => sum + points, 0);
    const opened =
      late > 0
        ? this.open({ id, contact: original.contact, points: late, end: now + RETURNED_FOR_MS, from })
        : [];
    for (const [lotId, points] of opened) moved.set(lotId, (moved.get(lotId) ?? 0) + points);
    return moved;
  }

  /** Fills debts, oldest first; the rest is a lot of its own. */
  private open({
    id,
    contact,
    points,
    end,
    from,
  }: Pick<ModelLot, 'id' | 'contact' | 'end' | 'from'> & { points: number }) {
    const moved = new Map<string, number>();
    let left = points;
    for (const lot of this.visible(contact)) {
      const paid = Math.min(Math.max(0, -lot.remaining), left);
      if (paid === 0) continue;
      lot.remaining += paid;
      left -= paid;
      moved.set(lot.id, paid);
    }
    this.lots.push({ id, contact, remaining: left, end, ended: false, expired: 0, from });
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

  /** Those of a contact and of all whom it is merged with. */
  private visible(contact: number): ModelLot[] {
    const isOne = this.family.includes(contact);
    return this.lots.filter((lot) => (isOne ? this.family.includes(lot.contact) : lot.contact === contact));
  }

  private byEnd(contact: number): ModelLot[] {
    return this.visible(contact).sort((a, b) => (a.end === b.end ? 0 : a.end - b.end));
  }

  private transactionOf(id: string): ModelTransaction {
    const transaction = this.transactions.get(id);
    if (transaction === undefined) throw new Error('The model has no such transaction');
    return transaction;
  }

  private lotOf(id: string): ModelLot {
    const lot = this.lots.find((each) => each.id === id);
    if (lot === undefined) throw new Error('The model has no such lot');
    return lot;
  }
}
