import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';

const MAC_BYTES = 16;

/** What a cursor belongs to. */
export interface CursorScope {
  readonly organizationId: string;
  /** Name of the list. */
  readonly resource: string;
  /** Canonical text of filters and sort order. */
  readonly query: string;
}

/**
 * Opaque positions in lists: sort values, sealed with an HMAC over them, the organization, the list and its filters
 * (the public contract, "Lists"). The values are also enciphered under the HMAC as synthetic initialization vector
 * (as RFC 5297 does), because a sort value may be a person's name and a cursor ends up in address logs.
 */
export class Cursors {
  private readonly sealKey: Buffer;
  private readonly cipherKey: Buffer;

  /** @param secret at least 32 characters, the same in every instance of a module. */
  constructor(secret: string) {
    if (secret.length < 32) throw new Error('A cursor secret has at least 32 characters');
    this.sealKey = createHmac('sha256', secret).update('cursor seal').digest();
    this.cipherKey = createHmac('sha256', secret).update('cursor cipher').digest();
  }

  /** Seals a position. */
  encode(scope: CursorScope, values: readonly (string | null)[]): string {
    const plain = Buffer.from(JSON.stringify([scope.query, ...values]));
    const seal = this.seal(scope, plain);
    const cipher = createCipheriv('aes-256-ctr', this.cipherKey, seal);
    return Buffer.concat([seal, cipher.update(plain), cipher.final()]).toString('base64url');
  }

  /**
   * Opens a position.
   * @throws `invalid_cursor` if it was altered or is of another list or organization; `cursor_mismatch` if it was
   * issued for other filters or another order.
   */
  decode(scope: CursorScope, cursor: string): (string | null)[] {
    const { query, values } = this.open(scope, cursor);
    if (query !== scope.query) throw mismatch();
    return values;
  }

  /**
   * Opens a position, and tells which filters and order it was issued for.
   * @throws `invalid_cursor` if it was altered or is of another list or organization
   */
  open(scope: CursorScope, cursor: string): { query: string; values: (string | null)[] } {
    const bytes = Buffer.from(cursor, 'base64url');
    // Other texts decode to the same bytes (unused low bits, foreign characters): only the one issued is taken.
    if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) throw invalid();
    const seal = bytes.subarray(0, MAC_BYTES);
    const decipher = createDecipheriv('aes-256-ctr', this.cipherKey, seal);
    const plain = Buffer.concat([decipher.update(bytes.subarray(MAC_BYTES)), decipher.final()]);
    if (!timingSafeEqual(seal, this.seal(scope, plain))) throw invalid();
    const [query, ...values] = JSON.parse(plain.toString()) as [string, ...(string | null)[]];
    return { query, values };
  }

  private seal(scope: CursorScope, plain: Buffer): Buffer {
    const scopeText = JSON.stringify([scope.organizationId, scope.resource]);
    const hmac = createHmac('sha256', this.sealKey).update(`${scopeText.length}:${scopeText}`).update(plain);
    return hmac.digest().subarray(0, MAC_BYTES);
  }
}

/** The refusal of a cursor that belongs to other filters or another order. */
export function mismatch(): Problem {
  return new Problem('cursor_mismatch', {
    detail: 'The cursor was issued for other filters or another sort order.',
    errors: [{ parameter: 'cursor', code: 'cursor_mismatch', detail: 'Keep filters and sort unchanged.' }],
  });
}

function invalid(): Problem {
  return new Problem('invalid_cursor', {
    detail: 'The cursor was not issued by this list, or was altered.',
    errors: [
      { parameter: 'cursor', code: 'invalid_cursor', detail: 'Send `next_cursor` as it was answered.' },
    ],
  });
}
