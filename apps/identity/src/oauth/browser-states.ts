import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import type { AdapterPayload } from 'oidc-provider';

/** What is kept of a browser: who has signed in with it, and sign-ins under way. */
export type BrowserStateKind = 'Interaction' | 'Session';

/**
 * So many sign-ins of one network may have been begun and not ended within so long: each is a row, and who begins one
 * has not proven to be anybody. As many more as come at the very same moment may slip in.
 */
const MOST_UNDER_WAY = 300;
const WITHIN_MS = 600_000;

const UPSERT = `
INSERT INTO oauth_browser_states (state_hash, kind, uid, payload, expires_at, network)
SELECT $1, $2, $3, $4, $5, $6
 WHERE $6::text IS NULL OR (
   SELECT count(*) FROM (
     SELECT FROM oauth_browser_states WHERE network = $6 AND expires_at > $7 LIMIT $8) AS under_way) < $8
ON CONFLICT (state_hash) DO UPDATE
   SET uid = excluded.uid, payload = excluded.payload, expires_at = excluded.expires_at
RETURNING 1`;

const FIND = `
SELECT payload FROM oauth_browser_states WHERE state_hash = $1 AND kind = $2 AND expires_at > $3`;

/** A new id is given to a session at every sign-in; the row of the former is gone by then. */
const FIND_BY_UID = `
SELECT payload FROM oauth_browser_states
 WHERE uid = $1 AND kind = $2 AND expires_at > $3 ORDER BY expires_at DESC LIMIT 1`;

const REMOVE = 'DELETE FROM oauth_browser_states WHERE state_hash = $1 AND kind = $2';

/** What stands behind the provider's cookies; the cookies themselves are kept as hashes. */
@Injectable()
export class BrowserStates {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @returns false where `network` has begun too many sign-ins; undefined counts for none */
  async upsert(
    kind: BrowserStateKind,
    id: string,
    payload: AdapterPayload,
    livesS: number,
    network?: string,
  ): Promise<boolean> {
    const { jti, ...kept } = payload;
    const { session } = kept;
    if (session) {
      const { cookie: _cookie, ...rest } = session;
      kept.session = rest;
    }
    const ends = this.clock.now().getTime() + livesS * 1_000;
    // An interaction is named by its own address, a session by a cookie that nobody else shall learn.
    const text = JSON.stringify(kind === 'Interaction' ? { ...kept, jti } : kept);
    const values = [hashOf(id), kind, kept.uid ?? null, text, new Date(ends)];
    const limit = [network ?? null, new Date(ends - WITHIN_MS), MOST_UNDER_WAY];
    const rows = await this.database.acrossOrganizations((tx) => tx.query(UPSERT, [...values, ...limit]));
    return rows.length > 0;
  }

  async find(kind: BrowserStateKind, id: string): Promise<AdapterPayload | undefined> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ payload: AdapterPayload }>(FIND, [hashOf(id), kind, this.clock.now()]),
    );
    return row && { ...row.payload, jti: id };
  }

  /** Without the id, which the table does not know: to be looked at, not to be saved. */
  async findByUid(kind: BrowserStateKind, uid: string): Promise<AdapterPayload | undefined> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ payload: AdapterPayload }>(FIND_BY_UID, [uid, kind, this.clock.now()]),
    );
    return row?.payload;
  }

  async remove(kind: BrowserStateKind, id: string): Promise<void> {
    await this.database.acrossOrganizations((tx) => tx.query(REMOVE, [hashOf(id), kind]));
  }
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
