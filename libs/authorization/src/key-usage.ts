import { log, PollingJob } from '@customer-platform/http';
import type { AuthorizationSource } from './authorization-source.js';
import { AUTHORIZATION_BATCH } from './protocol.js';

/** How often uses are reported: last_used_at is to be right within 60 s (identity.md §6), one failed report included. */
const REPORT_EVERY_MS = 20_000;

/** When a key was last used here; lives with its cached credential. Milliseconds of the wall clock. */
export interface KeyUseNote {
  readonly organizationId: string;
  readonly keyId: string;
  lastUsedAt: number;
  pending: boolean;
}

/** Collects the uses of API keys and reports them in batches; a request pays for one assignment. */
export class KeyUsage {
  private readonly job: PollingJob;
  private pending = new Set<KeyUseNote>();
  private reporting: Promise<void> = Promise.resolve();

  constructor(
    private readonly source: AuthorizationSource,
    everyMs = REPORT_EVERY_MS,
  ) {
    this.job = new PollingJob({ name: 'key-usage', takes: null, everyMs, pass: () => this.report() });
  }

  start(): void {
    this.job.start();
  }

  note(use: KeyUseNote): void {
    use.lastUsedAt = Date.now();
    if (!use.pending) this.keep(use);
  }

  /** Reports what has been noted; what the registry does not take is kept for the next time. */
  report(): Promise<void> {
    this.reporting = this.reporting.then(() => this.send());
    return this.reporting;
  }

  /** Reports the rest once. */
  async stop(): Promise<void> {
    await this.job.stop();
    await this.report();
  }

  private async send(): Promise<void> {
    const uses = [...this.pending];
    this.pending = new Set();
    for (let start = 0; start < uses.length; start += AUTHORIZATION_BATCH) {
      const batch = uses.slice(start, start + AUTHORIZATION_BATCH);
      for (const use of batch) use.pending = false; // a use during the call is reported by the next one
      try {
        await this.source.reportUsage(batch.map(toKeyUse));
      } catch (error) {
        log.warn({ err: error, keys: uses.length - start }, 'Key uses could not be reported; they are kept');
        for (const use of uses.slice(start)) this.keep(use);
        return;
      }
    }
  }

  private keep(use: KeyUseNote): void {
    use.pending = true;
    this.pending.add(use);
  }
}

function toKeyUse(use: KeyUseNote) {
  return {
    organization_id: use.organizationId,
    key_id: use.keyId,
    last_used_at: new Date(use.lastUsedAt).toISOString(),
  };
}
