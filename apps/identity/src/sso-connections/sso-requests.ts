import { createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database, newId, type RetentionOptions } from '@customer-platform/database';
import { SSO_CONFIG, type SsoConfig } from './sso.config.js';

/** Somebody may have to find a second factor at the provider, and no longer. */
const LIFE_MS = 10 * 60_000;
/** Whoever lets more pass asks for nothing: 68 years, as many as the column holds. */
const LONGEST_AGE_S = 2_147_483_647;
const STATE = /^[A-Za-z0-9_-]{43}$/;

const INSERT = `
INSERT INTO sso_requests
  (organization_id, id, connection_id, interaction_uid, client_organization_id, state_hash, browser_hash, expires_at,
   asked_login, max_age_s)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;
/**
 * An interaction has so many open; older ones, which it has left behind, go. Others that look at them at the same moment
 * pass over them.
 */
const MOST_OPEN = 10;
const DROP_OLDEST = `
WITH older AS (
  SELECT organization_id, id FROM sso_requests WHERE interaction_uid = $1
   ORDER BY expires_at DESC, id DESC OFFSET ${String(MOST_OPEN)} FOR UPDATE SKIP LOCKED
)
DELETE FROM sso_requests AS r USING older WHERE r.organization_id = older.organization_id AND r.id = older.id`;
/** Of many who come with one state, one has it. */
const TAKE = `
DELETE FROM sso_requests WHERE state_hash = $1
RETURNING organization_id, connection_id, interaction_uid, client_organization_id, browser_hash, expires_at,
  asked_login, max_age_s`;

/** Those who never came back. */
export const OLD_SSO_REQUESTS: RetentionOptions = {
  name: 'sso-request-retention',
  table: 'sso_requests',
  where: 'old.expires_at < $1',
  oldestBy: 'expires_at',
  keptMs: 0,
};

/** What an authorization request and its answer are tied together by. */
interface RequestSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** An interaction of the platform's own provider, and whose client asks. */
export interface AskedInteraction {
  readonly uid: string;
  readonly client: { readonly organizationId: string };
}

/** How fresh the sign-in at the provider has to be, as the client asked for. */
export interface Freshness {
  readonly prompt?: 'login';
  /** In seconds. */
  readonly max_age?: string;
}

/** A request that its answer belongs to. */
export interface SsoRequest extends RequestSecrets {
  readonly organizationId: string;
  readonly connectionId: string;
  readonly asked: AskedInteraction;
  readonly browserHash: Buffer;
  readonly isLate: boolean;
  /** Nobody authenticated in time who did so before it. */
  readonly freshSince?: Date;
  /** Whether the provider has to say when that was: where an age was asked for (OpenID Connect Core 3.1.2.1). */
  readonly demandsTime: boolean;
  /** Whether the provider was asked to authenticate whomever it sends anew. */
  readonly askedLogin: boolean;
}

interface RequestRow {
  organization_id: string;
  connection_id: string;
  interaction_uid: string;
  client_organization_id: string;
  browser_hash: Buffer;
  expires_at: Date;
  asked_login: boolean;
  max_age_s: number | null;
}

/**
 * What was sent to providers and is awaited. Of the state only its SHA-256 is stored; nonce and code verifier are HMACs
 * of it by a key of the platform's, so that whoever reads the table, or the state in an address, has neither.
 */
@Injectable()
export class SsoRequests {
  private readonly key: Buffer;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    @Inject(SSO_CONFIG) config: SsoConfig,
  ) {
    const { root } = config.keyring;
    this.key = Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), 'identity SSO requests', 32));
  }

  /** Of an interaction, in the browser that has it. */
  async begin(
    connection: { readonly organizationId: string; readonly id: string },
    { uid, client }: AskedInteraction,
    browserHash: Buffer,
    anew: Freshness = {},
  ): Promise<RequestSecrets> {
    const state = randomBytes(32).toString('base64url');
    const ends = new Date(this.clock.now().getTime() + LIFE_MS);
    const { organizationId, id } = connection;
    const whose = [organizationId, newId(), id, uid, client.organizationId];
    // Across organizations: an interaction may lead to the providers of several.
    await this.database.acrossOrganizations(async (tx) => {
      const fresh = [anew.prompt === 'login', secondsOf(anew)];
      await tx.query(INSERT, [...whose, sha256(state), browserHash, ends, ...fresh]);
      await tx.query(DROP_OLDEST, [uid]);
    });
    return this.secretsOf(state);
  }

  /** The request of a state, which is used up by that; undefined for a state that is unknown or was used before. */
  async take(state: string): Promise<SsoRequest | undefined> {
    if (!STATE.test(state)) return undefined;
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<RequestRow>(TAKE, [sha256(state)]),
    );
    if (!row) return undefined;
    return {
      ...this.secretsOf(state),
      organizationId: row.organization_id,
      connectionId: row.connection_id,
      asked: { uid: row.interaction_uid, client: { organizationId: row.client_organization_id } },
      browserHash: row.browser_hash,
      isLate: row.expires_at <= this.clock.now(),
      ...freshnessOf(row),
    };
  }

  private secretsOf(state: string): RequestSecrets {
    return { state, nonce: this.derived('nonce', state), codeVerifier: this.derived('code verifier', state) };
  }

  private derived(purpose: string, state: string): string {
    return createHmac('sha256', this.key).update(`${purpose}\n${state}`).digest('base64url');
  }
}

function secondsOf({ max_age: age }: Freshness): number | null {
  return age === undefined ? null : Math.min(Number(age), LONGEST_AGE_S);
}

function freshnessOf(row: RequestRow): Pick<SsoRequest, 'freshSince' | 'demandsTime' | 'askedLogin'> {
  const { asked_login: askedLogin, max_age_s: maxAgeS } = row;
  const begun = row.expires_at.getTime() - LIFE_MS;
  const ageS = askedLogin ? 0 : maxAgeS;
  return {
    askedLogin,
    demandsTime: maxAgeS !== null,
    ...(ageS !== null && { freshSince: new Date(begun - ageS * 1_000) }),
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
