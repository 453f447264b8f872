import { Secret, TOTP } from 'otpauth';

/** RFC 6238: steps of 30 s since 1970. */
const STEP_S = 30;
/** A code is still taken so long after its step has ended: somebody was typing. */
const LATE_MS = 5_000;
/** RFC 4226 recommends 160 bits. */
const SECRET_BYTES = 20;
const ISSUER = 'Customer Platform';

/** A new shared secret in base32, as authenticator apps take it. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** What an authenticator app reads from a QR code. */
export function otpauthUri(secret: string, account: string): string {
  return totp(secret, account).toString();
}

/** The step that a code is of, if it is of one that counts now. */
export function stepOf(secret: string, code: string, now: Date): number | undefined {
  const current = Math.floor(now.getTime() / 1_000 / STEP_S);
  const counting = now.getTime() % (STEP_S * 1_000) < LATE_MS ? [current, current - 1] : [current];
  return counting.find((step) => isOfStep(secret, code, step));
}

/** Whether a code is of this step, whenever that was. */
export function isOfStep(secret: string, code: string, step: number): boolean {
  return totp(secret).validate({ token: code, timestamp: step * STEP_S * 1_000, window: 0 }) === 0;
}

function totp(secret: string, label = ''): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret), period: STEP_S, digits: 6 });
}
