import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import type { AdapterPayload } from 'oidc-provider';
import { epochSeconds } from './epoch-seconds.js';
import { fromGrantId } from './grant-id.js';

/** What is kept of codes and refresh tokens. */
export type TokenKind = 'AuthorizationCode' | 'RefreshToken';

const INSERT = `
INSERT INTO oauth_tokens (organization_id, token_hash, kind, session_id, payload, expires_at)
VALUES ($1, $2, $3, $4, $5, $6)`;

/** A refresh token that was used is taken once more within its client's grace; a code never. */
const GRACE = `
CASE WHEN t.kind = 'RefreshToken' THEN make_interval(secs => coalesce((
  SELECT c.refresh_grace_seconds FROM oauth_clients c WHERE c.id = (t.payload ->> 'clientId')::uuid), 0))
ELSE interval '0' END`;

/** Without a grace no clock decides: those of two instances differ, and one that waits for a row has read its own before. */
const IS_GOOD = `
(t.consumed_at IS NULL OR NOT t.repeated AND ${GRACE} > interval '0' AND t.consumed_at + ${GRACE} > $3)`;

const FIND = `
SELECT t.payload, t.consumed_at, NOT ${IS_GOOD} AS is_spent
  FROM oauth_tokens t WHERE t.token_hash = $1 AND t.kind = $2`;

/** In one statement, whose row lock lets one of many through, and one more within the grace. */
const CONSUME = `
UPDATE oauth_tokens t SET consumed_at = coalesce(t.consumed_at, $3), repeated = t.consumed_at IS NOT NULL
 WHERE t.token_hash = $1 AND t.kind = $2 AND ${IS_GOOD}
RETURNING 1`;

const GRANT = `
SELECT organization_id, session_id FROM oauth_tokens WHERE token_hash = $1 AND kind = $2`;

const REMOVE = 'DELETE FROM oauth_tokens WHERE token_hash = $1 AND kind = $2';

const REMOVE_OF_SESSION = `
DELETE FROM oauth_tokens WHERE organization_id = $1 AND session_id = $2 AND kind = $3`;

/** Codes and refresh tokens. Neither is kept itself: by what the table holds nobody can act. */
@Injectable()
export class StoredTokens {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async insert(kind: TokenKind, token: string, payload: AdapterPayload, livesS: number): Promise<void> {
    await this.database.acrossOrganizations((tx) => this.insertIn(tx, kind, token, payload, livesS));
  }

  /** As `insert`, in the caller's transaction. */
  async insertIn(
    tx: WorkerTransaction,
    kind: TokenKind,
    token: string,
    payload: AdapterPayload,
    livesS: number,
  ): Promise<void> {
    // A browser that is closed, or serves another organization, ends no token: its session alone does.
    const { jti: _itself, grantId, expiresWithSession: _ignored, ...kept } = payload;
    const of = fromGrantId(grantId);
    if (!of) throw new Error('A token belongs to a session');
    const text = JSON.stringify({ ...kept, grantId });
    const ends = new Date(this.clock.now().getTime() + livesS * 1_000);
    await tx.prepared(INSERT, [of.organizationId, hashOf(token), kind, of.sessionId, text, ends]);
  }

  async find(kind: TokenKind, token: string): Promise<AdapterPayload | undefined> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.prepared<{ payload: AdapterPayload; consumed_at: Date | null; is_spent: boolean | null }>(FIND, [
        hashOf(token),
        kind,
        this.clock.now(),
      ]),
    );
    if (!row) return undefined;
    const consumed = row.is_spent && row.consumed_at ? { consumed: epochSeconds(row.consumed_at) } : {};
    return { ...row.payload, jti: token, ...consumed };
  }

  /** Uses it up in the caller's transaction. False where another has. */
  async consumeIn(tx: WorkerTransaction, kind: TokenKind, token: string): Promise<boolean> {
    return (await tx.prepared(CONSUME, [hashOf(token), kind, this.clock.now()])).length > 0;
  }

  /** The session that a token is of. */
  async grantOf(kind: TokenKind, token: string): Promise<string | undefined> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string; session_id: string }>(GRANT, [hashOf(token), kind]),
    );
    return row && `${row.organization_id}.${row.session_id}`;
  }

  async remove(kind: TokenKind, token: string): Promise<void> {
    await this.database.acrossOrganizations((tx) => tx.query(REMOVE, [hashOf(token), kind]));
  }

  async removeOfGrant(kind: TokenKind, grantId: string): Promise<void> {
    const of = fromGrantId(grantId);
    if (!of) return;
    await this.database.acrossOrganizations((tx) =>
      tx.query(REMOVE_OF_SESSION, [of.organizationId, of.sessionId, kind]),
    );
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
