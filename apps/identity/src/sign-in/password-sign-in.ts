import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { PasswordHashing } from '../passwords/password-hashing.js';
import { SsoSignIn } from '../sso-connections/sso-sign-in.js';
import { PasswordAttempts, type KnownBrowser } from '../passwords/password-attempts.js';
import type { SignedIn } from '../vocabulary/signed-in.js';
import { addressForms } from '../vocabulary/is-email-address.js';

/** Who says to be whom, from where, to which organization's client. */
interface PasswordClaim {
  readonly organizationId: string;
  readonly email: string;
  readonly password: string;
  readonly ip: string | undefined;
  /** Where somebody has signed in with the address before. */
  readonly knownBrowser?: KnownBrowser | undefined;
}

interface UserRow {
  id: string;
  email: string;
  password_hash: string | null;
  active: boolean;
}

const FIND = `
SELECT id, email, password_hash, status = 'active' AS active FROM users
 WHERE lower(email) = ANY ($1::text[]) AND deleted_at IS NULL
 ORDER BY array_position($1::text[], lower(email)) LIMIT 1`;
/** Hashing takes its time: the password may have been replaced meanwhile, or the user suspended. Waits for who does. */
const STILL = `
SELECT FROM users
 WHERE id = $1 AND password_hash = $2 AND status = 'active' AND deleted_at IS NULL FOR SHARE`;

/**
 * Signing in by email and password. Whoever nobody knows, is suspended, or has no password costs as much time as whoever
 * mistypes, and gets the same answer.
 */
@Injectable()
export class PasswordSignIn {
  constructor(
    private readonly database: Database,
    private readonly attempts: PasswordAttempts,
    private readonly passwords: PasswordHashing,
    private readonly sso: SsoSignIn,
    private readonly clock: Clock,
  ) {}

  /** Who it is; undefined for who is not let in. @throws Problem `rate_limited` after too many wrong passwords */
  check({ password, ...attempt }: PasswordClaim): Promise<SignedIn | undefined> {
    const { email, ip } = attempt;
    return this.attempts.attempt(attempt, async () => {
      const authenticatedAt = this.clock.now();
      const [user] = await this.query<UserRow>(FIND, [addressForms(email)]);
      const isRight = await this.passwords.verify(user?.active ? user.password_hash : null, password, ip);
      if (!user || !isRight) return undefined;
      if (!(await this.sso.allowsPassword({ userId: user.id, email: user.email }))) return undefined;
      if ((await this.query(STILL, [user.id, user.password_hash])).length === 0) return undefined;
      return { userId: user.id, amr: ['pwd'], authenticatedAt };
    });
  }

  private query<Row extends object>(statement: string, values: unknown[]): Promise<Row[]> {
    return this.database.acrossOrganizations((tx) => tx.query<Row>(statement, values));
  }
}
