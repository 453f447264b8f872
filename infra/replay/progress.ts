import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** What has been settled so far; written beside the file, so that a stopped replay goes on where it was. */
export interface Account {
  fingerprint: string;
  /** Every line up to this one is settled. */
  settled_line: number;
  sent: number;
  accepted: number;
  refused: Record<string, number>;
}

export class Progress {
  readonly account: Account;
  private readonly file: string;
  private readonly now: () => number;
  private readonly settledAhead = new Set<number>();
  private savedAt = 0;

  /** @param fingerprint of the file and where it goes: another platform starts from the first line. */
  constructor(file: string, fingerprint: string, now: () => number = Date.now) {
    this.file = file;
    this.now = now;
    const fresh: Account = { fingerprint, settled_line: 0, sent: 0, accepted: 0, refused: {} };
    const saved = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Account) : fresh;
    this.account = saved.fingerprint === fingerprint ? saved : fresh;
  }

  accepted(line: number): void {
    this.account.accepted += 1;
    this.settle(line);
  }

  refused(line: number, code: string): void {
    this.account.refused[code] = (this.account.refused[code] ?? 0) + 1;
    this.settle(line);
  }

  /** An empty line, passed over. Lines settle in any order; what is saved is the end of the unbroken run. */
  skip(line: number): void {
    this.settle(line);
  }

  /** Replaces the file in one step, at most twice a second unless `force`d. */
  save(force = false): void {
    if (!force && this.now() - this.savedAt < 500) return;
    this.savedAt = this.now();
    writeFileSync(`${this.file}.new`, JSON.stringify(this.account));
    renameSync(`${this.file}.new`, this.file);
  }

  private settle(line: number): void {
    this.settledAhead.add(line);
    while (this.settledAhead.delete(this.account.settled_line + 1)) this.account.settled_line += 1;
    this.save();
  }
}
