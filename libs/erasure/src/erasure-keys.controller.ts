import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { SigningKeys } from '@customer-platform/database';
import { RECEIPT_KEYS_SHOWN_FOR_MS, RECEIPTS } from './receipts.js';

/** What core verifies a module's receipts by. */
@Controller('internal/erasure')
export class ErasureKeysController {
  constructor(private readonly keys: SigningKeys) {}

  /** Public keys as a JWK Set (RFC 7517 §5). */
  @InternalEndpoint({ method: 'GET', path: 'keys', callers: ['core'] })
  async show(): Promise<{ keys: object[] }> {
    return { keys: await this.keys.shown(RECEIPTS, RECEIPT_KEYS_SHOWN_FOR_MS) };
  }
}
