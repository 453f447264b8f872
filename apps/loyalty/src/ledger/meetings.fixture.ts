/** What posts to a ledger; a reversal of a credit and of a debit are two. */
const POSTINGS = ['earn', 'add', 'deduct', 'spend', 'expire', 'reverse_credit', 'reverse_debit'] as const;
/** What changes whose the points are, or that they are somebody's. */
const KINDS = [...POSTINGS, 'merge', 'undo', 'erase'] as const;
export type Kind = (typeof KINDS)[number];

const PHASES = ['before', 'at', 'after'] as const;

/** A posting of the first kind, then one of the second, before, at or after the end of a lot of theirs. */
export type Meeting = readonly [first: Kind, second: Kind, phase: (typeof PHASES)[number]];

/** All that there can be. */
export const MEETINGS: readonly Meeting[] = KINDS.flatMap((first) =>
  KINDS.flatMap((second) => PHASES.map((phase): Meeting => [first, second, phase])),
);

/** Counts how often a posting of one kind came upon one of another, before, at and after the end of a lot of theirs. */
export class Meetings {
  private readonly counts = new Map<string, number>();

  /** @param earlier the postings before, with the ends of the lots that there were then */
  note(kind: Kind, at: number, earlier: readonly { kind: Kind; ends: readonly number[] }[]): void {
    for (const before of earlier) {
      const phases = new Set(before.ends.map((end) => (at < end ? 'before' : at > end ? 'after' : 'at')));
      for (const phase of phases) {
        const cell = `${before.kind} ${kind} ${phase}`;
        this.counts.set(cell, (this.counts.get(cell) ?? 0) + 1);
      }
    }
  }

  /** Those that have not come about. */
  get missing(): Meeting[] {
    return MEETINGS.filter((meeting) => !this.counts.has(meeting.join(' ')));
  }

  /** A row for each kind that was first, a column for each that came after it: before/at/after. */
  get table(): string {
    const width = 16;
    const cell = (text: string): string => text.padStart(width);
    const head = `${''.padEnd(width)}${KINDS.map(cell).join('')}`;
    const rows = KINDS.map((first) => {
      const cells = KINDS.map((second) =>
        cell(PHASES.map((phase) => this.counts.get(`${first} ${second} ${phase}`) ?? 0).join('/')),
      );
      return `${first.padEnd(width)}${cells.join('')}`;
    });
    return [head, ...rows].join('\n');
  }
}
