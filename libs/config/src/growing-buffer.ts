/**
 * Bytes as they come, at the cost of twice their number at most: a body that comes byte by byte costs no object for each,
 * which is fifty times as much. One that comes whole is kept as it is.
 */
export class GrowingBuffer {
  length = 0;
  private held: Buffer | undefined;

  /** @param most what comes at most, where that is known: no more is taken for it */
  constructor(private readonly most = Infinity) {}

  /** What it takes of the memory. */
  get capacity(): number {
    return this.held?.length ?? 0;
  }

  add(chunk: Buffer): void {
    if (this.held === undefined) this.held = chunk;
    else {
      const length = this.length + chunk.length;
      if (length > this.held.length) {
        const doubled = Math.max(2 * this.held.length, 512);
        const larger = Buffer.allocUnsafeSlow(Math.max(Math.min(doubled, this.most), length));
        this.held.copy(larger, 0, 0, this.length);
        this.held = larger;
      }
      chunk.copy(this.held, this.length);
    }
    this.length += chunk.length;
  }

  /** All that came; nothing may be added any more. */
  bytes(): Buffer {
    if (this.held === undefined) return Buffer.alloc(0);
    return this.held.length === this.length ? this.held : this.held.subarray(0, this.length);
  }
}
