import { log } from '@customer-platform/http';

const PROBE_PAUSES_MS = [500, 1_000, 2_000, 5_000];
/** However long a provider asks to be left alone: others may share it. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * While what a transport leads to cannot be reached, or refuses the account, one message at a time tries again with growing pauses and all
 * others wait where they are: an outage costs no message its attempts, but the one that found it and those that try.
 */
export class Outage {
  private failures = 0;
  private probeAt = 0;

  constructor(private readonly provider: string) {}

  get present(): boolean {
    return this.failures > 0;
  }

  /** Whether nobody has tried again since it was found. */
  get justFound(): boolean {
    return this.failures === 1;
  }

  /** How many messages may be begun: all of them, one that tries, or none. */
  capacity(usual: number): number {
    if (this.failures === 0) return usual;
    return performance.now() >= this.probeAt ? 1 : 0;
  }

  over(): void {
    this.failures = 0;
  }

  /** Notes that the provider took nothing, at this stage of a conversation, and for how long it is left alone. */
  failed(stage: string, atLeastMs = 0, code?: number): void {
    const usual = PROBE_PAUSES_MS[Math.min(this.failures, PROBE_PAUSES_MS.length - 1)] ?? 0;
    const pause = Math.max(usual, Math.min(atLeastMs, LONGEST_PAUSE_MS));
    const { provider } = this;
    if (this.failures === 0)
      log.warn({ stage, provider, code }, 'A provider takes nothing; sends wait for it');
    this.failures += 1;
    this.probeAt = performance.now() + pause;
  }
}
