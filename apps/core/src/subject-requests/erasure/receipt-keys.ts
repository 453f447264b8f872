import { Injectable } from '@nestjs/common';
import { InternalClient } from '@customer-platform/authorization';
import { SigningKeys } from '@customer-platform/database';
import { RECEIPT_KEYS_SHOWN_FOR_MS, RECEIPTS, type ErasingModule } from '@customer-platform/erasure';
import { log } from '@customer-platform/http';
import type { JWK } from 'jose';

/** Shorter than whoever asks core for its keys waits for all of them. */
const TIMEOUT_MS = 500;
const MODULES: readonly ErasingModule[] = ['crm', 'loyalty', 'messaging'];

/** The public keys of all modules that sign receipts of erasures. */
@Injectable()
export class ReceiptKeys {
  /** What each module last showed. */
  private readonly known = new Map<ErasingModule, JWK[]>();

  constructor(
    private readonly own: SigningKeys,
    private readonly internal: InternalClient,
  ) {}

  /** Those of a module. @throws Problem `dependency_unavailable` while it is silent */
  async of(module: ErasingModule): Promise<readonly JWK[]> {
    const call = { method: 'GET' as const, path: '/internal/erasure/keys', timeoutMs: TIMEOUT_MS };
    const { keys } = await this.internal.call<{ keys: JWK[] }>(module, call);
    this.known.set(module, keys);
    return keys;
  }

  /** Those of a module by which a receipt may be signed: asked for where the one is not known. */
  async with(module: ErasingModule, kid: string): Promise<readonly JWK[]> {
    const known = this.known.get(module) ?? [];
    return known.some((key) => key.kid === kid) ? known : this.of(module);
  }

  /** All of them, core's own too, for the platform's key set; of a module that is silent those that it last showed. */
  async shown(): Promise<Record<string, unknown>[]> {
    const own = this.own.shown(RECEIPTS, RECEIPT_KEYS_SHOWN_FOR_MS);
    const others = MODULES.map((module) => this.ofOrKnown(module));
    const keys = (await Promise.all([own, ...others])).flat();
    return keys.map((key) => ({ ...key }));
  }

  private async ofOrKnown(module: ErasingModule): Promise<readonly JWK[]> {
    try {
      return await this.of(module);
    } catch (error) {
      log.warn({ err: error, module }, 'A module did not show the keys of its receipts');
      return this.known.get(module) ?? [];
    }
  }
}
