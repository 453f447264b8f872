import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import type { AdapterPayload } from 'oidc-provider';
import { NETWORKS_OF_A_SITE } from '../vocabulary/network-of.js';

/** What is kept of a browser: who has signed in with it, and sign-ins under way. */
export type BrowserStateKind = 'Interaction' | 'Session';

/** Who begins a sign-in, by address. */
export interface Beginner {
  /** An IPv4 address, an IPv6 /64. */
  readonly network: string;
  /** Of IPv6 the /48. */
  readonly site: string | null;
}

/**
 * So many sign-ins of one network may have been begun and not ended within so long: each is a row, and who begins one
 * has not proven to be anybody. As many more as come at the very same moment may slip in.
 */
const MOST_UNDER_WAY = 300;
const WITHIN_MS = 600_000;

/** As far as it matters: nobody waits for millions to be counted. */
const roomOf = (column: 'network' | 'site', value: string, most: string): string => `
(${value}::text IS NULL OR ${most} > (SELECT count(*) FROM (
   SELECT FROM oauth_browser_states WHERE ${column} = ${value} AND expires_at > $8 LIMIT ${most}) AS under_way))`;

const UPSERT = `
INSERT INTO oauth_browser_states (state_hash, kind, uid, payload, expires_at, network, site)
SELECT $1, $2, $3, $4, $5, $6, $7
 WHERE ${roomOf('network', '$6', String(MOST_UNDER_WAY))}
   AND ${roomOf('site', '$7', String(MOST_UNDER_WAY * NETWORKS_OF_A_SITE))}
ON CONFLICT (state_hash) DO UPDATE
   SET uid = excluded.uid, payload = excluded.payload, expires_at = excluded.expires_at
RETURNING 1`;

/** What was read may be gone by now: its browser has signed out, or is known by another cookie. It does not come back. */
const UPDATE = `
UPDATE oauth_browser_states SET uid = $3, payload = $4, expires_at = $5 WHERE state_hash = $1 AND kind = $2 RETURNING 1`;

const FIND = `
SELECT payload FROM oauth_browser_states WHERE state_hash = $1 AND kind = $2 AND expires_at > $3`;

/** A new id is given to a session at every sign-in; the row of the former is gone by then. */
const FIND_BY_UID = `
SELECT payload FROM oauth_browser_states
 WHERE uid = $1 AND kind = $2 AND expires_at > $3 ORDER BY expires_at DESC LIMIT 1`;

/**
 * What has led to something stays for as long as whoever lost the answer comes again. Who loads its pages later is led to
 * its beginning, which is all that is kept then; neither counts as under way. It is found by the address of the sign-in,
 * and no cookie is its name: $5 is of nothing.
 */
const COMES_AGAIN_MS = 60_000;
const KNOWN_FOR_MS = 45 * 60_000;
const END = `
WITH ended AS (
  UPDATE oauth_browser_states SET expires_at = $3, network = NULL, site = NULL
   WHERE state_hash = $1 AND kind = 'Interaction' AND expires_at > $3 RETURNING payload)
INSERT INTO oauth_browser_states (state_hash, kind, uid, payload, expires_at)
SELECT $5, 'Interaction', $2, jsonb_build_object('params', payload -> 'params'), $4 FROM ended`;
/** Removes what ended by an error or was left: it leads nowhere. */
const CAME_TO_NOTHING = `
DELETE FROM oauth_browser_states
 WHERE state_hash = $1 AND kind = 'Interaction' AND coalesce(payload -> 'result' ? 'error', true)`;

const BEGINNING = `
SELECT payload -> 'params' AS params FROM oauth_browser_states
 WHERE kind = 'Interaction' AND (state_hash = $1 OR uid = $2) AND expires_at > $3 LIMIT 1`;

const REMOVE = 'DELETE FROM oauth_browser_states WHERE state_hash = $1 AND kind = $2';

/** What stands behind the provider's cookies; the cookies themselves are kept as hashes. */
@Injectable()
export class BrowserStates {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @returns false where `beginner` has begun too many sign-ins; undefined counts for none */
  async upsert(
    kind: BrowserStateKind,
    id: string,
    payload: AdapterPayload,
    livesS: number,
    beginner?: Beginner,
  ): Promise<boolean> {
    const ends = this.clock.now().getTime() + livesS * 1_000;
    const limit = [beginner?.network ?? null, beginner?.site ?? null, new Date(ends - WITHIN_MS)];
    return this.write(UPSERT, [...valuesOf(kind, id, payload), new Date(ends), ...limit]);
  }

  /** Writes what was found before. @returns false where it is gone by now */
  update(kind: BrowserStateKind, id: string, payload: AdapterPayload, livesS: number): Promise<boolean> {
    const ends = new Date(this.clock.now().getTime() + livesS * 1_000);
    return this.write(UPDATE, [...valuesOf(kind, id, payload), ends]);
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

  /** A sign-in has gone on to its end: whose answer was lost comes again, and is led to the same. */
  async end(id: string): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      await tx.query(CAME_TO_NOTHING, [hashOf(id)]);
      const [again, known] = [COMES_AGAIN_MS, KNOWN_FOR_MS].map((ms) => this.after(ms));
      await tx.query(END, [hashOf(id), id, again, known, randomBytes(32)]);
    });
  }

  /** The parameters of the request that a sign-in began with, also for a while after its end. */
  async beginningOf(uid: string): Promise<Record<string, unknown> | undefined> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ params: Record<string, unknown> }>(BEGINNING, [hashOf(uid), uid, this.clock.now()]),
    );
    return row?.params;
  }

  async remove(kind: BrowserStateKind, id: string): Promise<void> {
    await this.database.acrossOrganizations((tx) => tx.query(REMOVE, [hashOf(id), kind]));
  }

  private after(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  private async write(statement: string, values: unknown[]): Promise<boolean> {
    const rows = await this.database.acrossOrganizations((tx) => tx.query(statement, values));
    return rows.length > 0;
  }
}

function valuesOf(kind: BrowserStateKind, id: string, payload: AdapterPayload): unknown[] {
  const { jti, ...kept } = payload;
  const { session } = kept;
  if (session) {
    const { cookie: _cookie, ...rest } = session;
    kept.session = rest;
  }
  // An interaction is named by its own address, a session by a cookie that nobody else shall learn.
  const text = JSON.stringify(kind === 'Interaction' ? { ...kept, jti } : kept);
  return [hashOf(id), kind, kept.uid ?? null, text];
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
