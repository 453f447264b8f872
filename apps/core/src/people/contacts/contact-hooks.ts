import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';

/** Two contacts that were one, each with all that it took. */
export interface PartedFamilies {
  readonly survivor: readonly string[];
  readonly merged: readonly string[];
}

/** Follows contacts in the transactions of their changes. */
export interface ContactHook {
  /** Runs in the transaction of the purge, after it. */
  ofPurged(tx: Transaction, contactId: string): Promise<void>;
  /** Runs in the transaction that parts two families, whose roots are locked. */
  ofParted(tx: Transaction, families: PartedFamilies, since: Date): Promise<void>;
}

/** Tells those who stand above contacts, and of whom they know nothing: each adds itself when the app starts. */
@Injectable()
export class ContactHooks implements ContactHook {
  private readonly hooks: ContactHook[] = [];

  add(hook: ContactHook): void {
    this.hooks.push(hook);
  }

  async ofPurged(tx: Transaction, contactId: string): Promise<void> {
    for (const hook of this.hooks) await hook.ofPurged(tx, contactId);
  }

  async ofParted(tx: Transaction, families: PartedFamilies, since: Date): Promise<void> {
    for (const hook of this.hooks) await hook.ofParted(tx, families, since);
  }
}
