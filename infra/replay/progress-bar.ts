const WIDTH = 30;

/** A bar on a terminal; where the output is a file, one line every ten percent. */
export class ProgressBar {
  private readonly began = performance.now();
  private lastShown = 0;
  private lastTenth = -1;

  private readonly total: number;
  private readonly out: NodeJS.WriteStream;

  constructor(total: number, out: NodeJS.WriteStream = process.stdout) {
    this.total = total;
    this.out = out;
  }

  show(done: number, note = ''): void {
    const now = performance.now();
    const share = this.total === 0 ? 1 : Math.min(1, done / this.total);
    if (!this.out.isTTY) return this.showTenth(done, share);
    if (now - this.lastShown < 100 && done < this.total && note === '') return;
    this.lastShown = now;
    const rate = done / Math.max(0.001, (now - this.began) / 1000);
    const filled = Math.round(share * WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    this.out.write(`\r\x1b[K${bar} ${done}/${this.total}  ${rate.toFixed(0)}/s  ${note}`);
  }

  end(): void {
    if (this.out.isTTY) this.out.write('\n');
  }

  private showTenth(done: number, share: number): void {
    const tenth = Math.floor(share * 10);
    if (tenth === this.lastTenth) return;
    this.lastTenth = tenth;
    this.out.write(`${done}/${this.total}\n`);
  }
}
