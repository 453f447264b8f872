import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { SigningKeys } from '@customer-platform/database';
import { RECEIPTS } from './erasures.js';

/** Receipts are proofs: what verifies them is shown for as long as anybody may ask for one. */
const SHOWN_FOR_MS = 20 * 365 * 86_400_000;

/** What core verifies a module's receipts by. */
@Controller('internal/erasure')
export class ErasureKeysController {
  constructor(private readonly keys: SigningKeys) {}

  /** Public keys as a JWK Set (RFC 7517 §5). */
  @InternalEndpoint({ method: 'GET', path: 'keys', callers: ['core'] })
  async show(): Promise<{ keys: object[] }> {
    return { keys: await this.keys.shown(RECEIPTS, SHOWN_FOR_MS) };
  }
}
