import { Injectable } from '@nestjs/common';
import { Clock, Database, type RetentionOptions } from '@customer-platform/database';
import type { GivesFactor } from '../mfa/sign-in-factors.js';
import type { BrowserBinding } from '../pages/browser-binding.js';
import type { SignedIn } from '../vocabulary/signed-in.js';

/** From an authentication on, the rest of a sign-in may take so long. */
const LIFE_MS = 15 * 60_000;

/** What has had its time goes in pieces. */
export const OLD_SIGN_INS: RetentionOptions = {
  name: 'sign-ins-retention',
  table: 'sign_ins',
  where: 'old.expires_at < $1',
  oldestBy: 'expires_at',
  keptMs: 0,
};

/** An interaction of the provider, and whose client asks. */
export interface Asked {
  readonly uid: string;
  readonly client: { readonly organizationId: string };
}

/** How far a sign-in has come. */
export interface Progress {
  readonly signedIn: SignedIn;
  /** The organization at home in which the user is. */
  readonly homeId: string;
  readonly email: string;
  /** Whether a second factor was given here. */
  readonly factorGiven: boolean;
  readonly chosenOrganizationId?: string;
  /** A factor that is being set up, or was. */
  readonly factorId?: string;
}

interface ProgressRow {
  user_id: string;
  home_id: string;
  email: string;
  amr: string[];
  authenticated_at: Date;
  auth_time: Date | null;
  connection_id: string | null;
  chosen_organization_id: string | null;
  factor_given: boolean;
  factor_id: string | null;
}

/** Who authenticates a second time begins anew. */
const BEGIN = `
INSERT INTO sign_ins (organization_id, uid, browser_hash, user_id, amr, authenticated_at, connection_id, expires_at,
  auth_time)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (organization_id, uid) DO UPDATE
   SET browser_hash = excluded.browser_hash, user_id = excluded.user_id, amr = excluded.amr,
       authenticated_at = excluded.authenticated_at, connection_id = excluded.connection_id,
       auth_time = excluded.auth_time, expires_at = excluded.expires_at, chosen_organization_id = NULL, factor_given = false, factor_id = NULL`;
/** A suspension or a new password ends what was begun before it. */
const FIND = `
SELECT s.user_id, u.organization_id AS home_id, u.email, s.amr, s.authenticated_at, s.auth_time, s.connection_id,
       s.chosen_organization_id, s.factor_given, s.factor_id
  FROM sign_ins s
  JOIN users u ON u.id = s.user_id AND u.status = 'active' AND u.deleted_at IS NULL
   AND (u.password_changed_at IS NULL OR u.password_changed_at <= s.authenticated_at)
 WHERE s.organization_id = $1 AND s.uid = $2 AND s.browser_hash = $3 AND s.expires_at > $4`;
/** Each by the one browser: who has begun anew in another meanwhile is given nothing that was shown before. */
const OF_BROWSER = 'organization_id = $1 AND uid = $2 AND browser_hash = $3';
const GAIN = `
UPDATE sign_ins SET amr = ARRAY(SELECT DISTINCT unnest(amr || $4::text[]) ORDER BY 1), factor_given = true
 WHERE ${OF_BROWSER} RETURNING uid`;
const CHOOSE = `UPDATE sign_ins SET chosen_organization_id = $4 WHERE ${OF_BROWSER} RETURNING uid`;
const ENROL = `UPDATE sign_ins SET factor_id = $4 WHERE ${OF_BROWSER} RETURNING uid`;
const HAS_FACTOR = `SELECT FROM sign_ins WHERE ${OF_BROWSER} AND 'mfa' = ANY (amr)`;

/** What a sign-in has shown so far, between its pages: kept here, and given out to the one browser it is bound to. */
@Injectable()
export class SignInProgress {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Somebody has authenticated in this browser, which shall have been given a fresh secret for it. */
  async begin(asked: Asked, browser: BrowserBinding, signedIn: SignedIn): Promise<void> {
    const { userId, amr, authenticatedAt, authTime, connectionId } = signedIn;
    const ends = new Date(this.clock.now().getTime() + LIFE_MS);
    const by = [browser.hash, userId, amr, authenticatedAt, connectionId ?? null];
    await this.run(BEGIN, asked, [...by, ends, authTime ?? null]);
  }

  async find(asked: Asked, browser: BrowserBinding | undefined): Promise<Progress | undefined> {
    if (!browser) return undefined;
    const [row] = await this.run<ProgressRow>(FIND, asked, [browser.hash, this.clock.now()]);
    return row && toProgress(row);
  }

  /** A second factor was given. False where the browser has begun anew since, or the sign-in has ended. */
  gain(asked: Asked, browser: BrowserBinding, amr: readonly string[]): Promise<boolean> {
    return this.goesOn(GAIN, asked, [browser.hash, amr]);
  }

  /** False likewise. */
  choose(asked: Asked, browser: BrowserBinding, organizationId: string): Promise<boolean> {
    return this.goesOn(CHOOSE, asked, [browser.hash, organizationId]);
  }

  /** A factor is being set up. False likewise. */
  enrol(asked: Asked, browser: BrowserBinding, factorId: string): Promise<boolean> {
    return this.goesOn(ENROL, asked, [browser.hash, factorId]);
  }

  /**
   * Whether a factor was given, and giving one, in the transaction that uses its code up: who sends a code twice is where
   * the first has led, and of one that was used nothing is lost.
   */
  giving(asked: Asked, browser: BrowserBinding): GivesFactor {
    const values = [asked.client.organizationId, asked.uid, browser.hash];
    return {
      wasGiven: async (tx) => (await tx.query(HAS_FACTOR, values)).length > 0,
      give: async (tx, amr) => {
        await tx.query(GAIN, [...values, amr]);
      },
    };
  }

  private async goesOn(statement: string, asked: Asked, more: unknown[]): Promise<boolean> {
    return (await this.run(statement, asked, more)).length > 0;
  }

  private run<Row extends object>(
    statement: string,
    { uid, client }: Asked,
    more: unknown[],
  ): Promise<Row[]> {
    return this.database.acrossOrganizations((tx) =>
      tx.query<Row>(statement, [client.organizationId, uid, ...more]),
    );
  }
}

function toProgress(row: ProgressRow): Progress {
  const { connection_id: connectionId, chosen_organization_id: chosen, factor_id: factorId } = row;
  return {
    signedIn: {
      userId: row.user_id,
      amr: row.amr,
      authenticatedAt: row.authenticated_at,
      ...(row.auth_time && { authTime: row.auth_time }),
      ...(connectionId === null ? {} : { connectionId }),
    },
    homeId: row.home_id,
    email: row.email,
    factorGiven: row.factor_given,
    ...(chosen === null ? {} : { chosenOrganizationId: chosen }),
    ...(factorId === null ? {} : { factorId }),
  };
}
