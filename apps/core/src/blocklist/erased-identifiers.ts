import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { encryptionConfig, keyringOf, readConfig } from '@customer-platform/config';
import { byteas, Clock, type Transaction, uuids } from '@customer-platform/database';
import { KeyedHash } from './keyed-hash.js';

/** A value that names a person, in the form in which it is matched. */
export interface Identifier {
  /** Of an identity; `national_id.<type>` with the index of a national id. */
  readonly type: string;
  readonly normal: string;
}

const BLOCK = `
  INSERT INTO erased_identifiers (organization_id, hash, subject_request_id, created_at)
  SELECT $1, hash, $3, $4 FROM unnest($2::bytea[]) AS hash ORDER BY hash
  ON CONFLICT DO NOTHING`;

const LIFT = `
  DELETE FROM erased_identifiers WHERE organization_id = $1 AND hash = ANY($2::bytea[]) RETURNING hash`;

const SEEK_NO_MORE = `
  UPDATE contact_erasures
     SET identifiers = coalesce((
           SELECT jsonb_agg(sought) FROM jsonb_array_elements(identifiers) AS sought
            WHERE NOT EXISTS (SELECT FROM jsonb_array_elements($2::jsonb) AS lifted
                               WHERE lifted->'type' = sought->'type' AND lifted->'normal' = sought->'normal')), '[]')
   WHERE organization_id = $1 AND step NOT IN ('asked', 'done')`;

/** Row by row, however few rows the planner takes the table to have. */
const BLOCKED = `
  SELECT wanted.place
    FROM unnest($1::uuid[], $2::bytea[]) WITH ORDINALITY AS wanted (organization_id, hash, place),
         LATERAL (SELECT FROM erased_identifiers
                   WHERE organization_id = wanted.organization_id AND hash = wanted.hash OFFSET 0) AS found`;

const ANY = 'SELECT FROM erased_identifiers WHERE organization_id = $1 LIMIT 1';

/** An identifier, and the organization in which it is sought. */
export type SoughtIdentifier = Identifier & { readonly organizationId: string };

/**
 * The identifiers of people who were erased (core.md §10), as keyed hashes: whoever reads the table learns no value, and
 * cannot try out values without the key. It is derived from `ENCRYPTION_KEY`, as that of national ids is, which stays
 * when the keys that seal are replaced: a value has to be known again for as long as the list is kept.
 */
@Injectable()
export class ErasedIdentifiers {
  private readonly hash: KeyedHash;

  constructor(private readonly clock: Clock) {
    const { root } = keyringOf(readConfig(encryptionConfig));
    const key = hkdfSync('sha256', root, Buffer.alloc(0), 'core erased identifiers', 32);
    this.hash = new KeyedHash(Buffer.from(key));
  }

  /** From the commit on nothing is created for them. */
  async block(tx: Transaction, requestId: string, identifiers: readonly Identifier[]): Promise<void> {
    if (identifiers.length === 0) return;
    const hashes = identifiers.map((each) => this.hashOf(tx.organizationId, each));
    await tx.query(BLOCK, [tx.organizationId, hashes, requestId, this.clock.now()]);
  }

  /**
   * Those of the person are taken again, and erasures that are under way seek them no more: what comes of the person from
   * now on stays. It waits for the piece of such an erasure that runs just now.
   * @returns how many were blocked
   */
  async lift(tx: Transaction, identifiers: readonly Identifier[]): Promise<number> {
    if (identifiers.length === 0) return 0;
    const hashes = identifiers.map((each) => this.hashOf(tx.organizationId, each));
    const lifted = await tx.query(LIFT, [tx.organizationId, hashes]);
    if (lifted.length > 0) await tx.query(SEEK_NO_MORE, [tx.organizationId, JSON.stringify(identifiers)]);
    return lifted.length;
  }

  /** Whether one of these is blocked. */
  async isAnyBlocked(tx: Transaction, identifiers: readonly Identifier[]): Promise<boolean> {
    const { organizationId } = tx;
    const blocked = await this.blocked(
      tx,
      identifiers.map(({ type, normal }) => ({ organizationId, type, normal })),
    );
    return blocked.size > 0;
  }

  /**
   * Whether the organization has erased anybody so far: of most, who have not, many identifiers need not be looked for
   * one by one. What it answers is what {@link blocked} would see in its place.
   */
  async hasAny(tx: Transaction): Promise<boolean> {
    return (await tx.prepared(ANY, [tx.organizationId])).length > 0;
  }

  /** Those among these that are blocked; of any number of organizations in one statement. */
  async blocked<T extends SoughtIdentifier>(tx: Transaction, sought: readonly T[]): Promise<Set<T>> {
    if (sought.length === 0) return new Set();
    const rows = await tx.prepared<{ place: string }>(BLOCKED, [
      uuids(sought.map(({ organizationId }) => organizationId)),
      byteas(sought.map((each) => this.hashOf(each.organizationId, each))),
    ]);
    return new Set(rows.flatMap(({ place }) => sought[Number(place) - 1] ?? []));
  }

  /** The keyed hashes of identifiers, by which what is kept of a row is found again without keeping whom it names. */
  hashesOf(organizationId: string, identifiers: readonly Identifier[]): Buffer[] {
    return identifiers.map((each) => this.hashOf(organizationId, each));
  }

  private hashOf(organizationId: string, { type, normal }: Identifier): Buffer {
    return this.hash.of(`${organizationId}\n${type}\n${normal}`);
  }
}
