import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Mutant } from './draw.ts';

/** What came of a fault: caught by a file, or by none of so many. */
export interface Judged extends Mutant {
  readonly by?: string;
  /** It neither failed nor passed within its time: a loop without an end is seen. */
  readonly hung?: true;
  readonly tried: number;
}

/** What is known of the faults that were put in, kept so that a run goes on where the last one was stopped. */
export class Ledger {
  private readonly file: string;
  private readonly judged: Judged[];

  constructor(file: string) {
    this.file = file;
    this.judged = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Judged[]) : [];
  }

  of({ path, before, after }: Mutant): Judged | undefined {
    return this.judged.find((each) => each.path === path && each.before === before && each.after === after);
  }

  note(judged: Judged): void {
    this.judged.push(judged);
    const draft = `${this.file}.new`;
    writeFileSync(draft, `${JSON.stringify(this.judged, undefined, 1)}\n`);
    renameSync(draft, this.file);
  }
}
