import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';

/** The two halves of a server's key, in base64url: the point, and the number. */
export interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Push services refuse more than a day (RFC 8292 §2). */
const TOKEN_SECONDS = 12 * 3_600;
/** So long a token is used; what is left of it is for clocks that are apart. */
const USED_MS = 6 * 3_600_000;
const REMEMBERED_ORIGINS = 1_000;

/** Whether the two belong together. */
export function fitTogether({ publicKey, privateKey }: VapidKeys): boolean {
  try {
    const ecdh = createECDH('prime256v1');
    ecdh.setPrivateKey(Buffer.from(privateKey, 'base64url'));
    return ecdh.getPublicKey().equals(Buffer.from(publicKey, 'base64url'));
  } catch {
    return false;
  }
}

/** Signs for the origins of push services (RFC 8292); a signature is kept and used again. */
export class Vapid {
  private readonly key: KeyObject;
  private readonly known = new Map<string, { readonly token: string; readonly until: number }>();

  constructor(
    private readonly keys: VapidKeys,
    private readonly subject: string,
  ) {
    const point = Buffer.from(keys.publicKey, 'base64url');
    const coordinate = (from: number): string => point.subarray(from, from + 32).toString('base64url');
    this.key = createPrivateKey({
      format: 'jwk',
      key: { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33), d: keys.privateKey },
    });
  }

  /** The header `authorization` of a request to this origin. */
  async authorization(origin: string, now: Date): Promise<string> {
    const known = this.known.get(origin);
    if (known && performance.now() < known.until) return this.header(known.token);
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
      .setAudience(origin)
      .setSubject(this.subject)
      .setExpirationTime(Math.floor(now.getTime() / 1_000) + TOKEN_SECONDS)
      .sign(this.key);
    if (this.known.size >= REMEMBERED_ORIGINS) this.known.clear();
    this.known.set(origin, { token, until: performance.now() + USED_MS });
    return this.header(token);
  }

  private header(token: string): string {
    return `vapid t=${token}, k=${this.keys.publicKey}`;
  }
}
