import { Injectable } from '@nestjs/common';
import {
  Clock,
  postgresFailure,
  uuids,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { SsoConnection } from './sso-connection.entity.js';

const DAY_MS = 86_400_000;

const HELD = `
SELECT connection_id AS "connectionId", domain, failing_since AS "failingSince" FROM sso_domains
 WHERE organization_id = $1 AND connection_id = ANY ($2::uuid[])`;
const RELEASE = `
DELETE FROM sso_domains
 WHERE organization_id = $1 AND connection_id = $2 AND NOT domain = ANY ($3::text[])`;
/** In one order, so that two who claim the same ones wait for each other instead of deadlocking. */
const CLAIM = `
INSERT INTO sso_domains AS known
  (organization_id, connection_id, domain, proven_at, names_provider, failing_since, next_check_at)
SELECT $1, $2, domain, $4, true, NULL, $5 FROM unnest($3::text[]) AS domain ORDER BY domain
ON CONFLICT (organization_id, connection_id, domain) DO UPDATE
   SET proven_at = greatest(excluded.proven_at, known.proven_at + interval '1 ms'), names_provider = true,
       failing_since = NULL, next_check_at = excluded.next_check_at`;
const TAKEN = `
SELECT domain FROM sso_domains WHERE domain = ANY ($1::text[]) AND connection_id <> $2 ORDER BY domain`;

/** Since when proofs of a connection's domains are missing, by domain; null: they are there. */
export type HeldDomains = ReadonlyMap<string, Date | null>;

/** What of a connection's domains leads to it from now on. */
interface Claimed {
  /** All that do, in the order of the connection's. */
  readonly domains: readonly string[];
  /** Those of them that have been proven just now. */
  readonly proven: readonly string[];
}

/** What `sso_domains` holds: the proven domains of active connections, each once on the platform (identity.md §6). */
@Injectable()
export class DomainClaims {
  constructor(private readonly clock: Clock) {}

  /** The domains that lead to the connection now. */
  async held(tx: Transaction, connectionId: string): Promise<HeldDomains> {
    return (await this.heldBy(tx, [connectionId])).get(connectionId) ?? new Map<string, Date | null>();
  }

  /** The same of several connections, by connection. */
  async heldBy(tx: Transaction, connectionIds: readonly string[]): Promise<Map<string, HeldDomains>> {
    const rows = await tx.query<{ connectionId: string; domain: string; failingSince: Date | null }>(HELD, [
      tx.organizationId,
      uuids(connectionIds),
    ]);
    const byConnection = Map.groupBy(rows, ({ connectionId }) => connectionId);
    return new Map(
      [...byConnection].map(([id, own]) => [id, new Map(own.map((row) => [row.domain, row.failingSince]))]),
    );
  }

  /**
   * Leads exactly these domains to the connection, all of them proven. Of two organizations at once one is first.
   * @throws Problem `duplicate_value` where one leads elsewhere, which says nothing more
   */
  async claim(
    tx: WorkerTransaction,
    { id, domains: all }: Pick<SsoConnection, 'id' | 'domains'>,
    { domains, proven }: Claimed,
  ): Promise<void> {
    await tx.query(RELEASE, [tx.organizationId, id, domains]);
    const now = this.clock.now();
    const values = [tx.organizationId, id, proven, now, new Date(now.getTime() + DAY_MS)];
    await tx
      .savepoint(() => tx.query(CLAIM, values))
      .catch(async (error: unknown) => {
        if (postgresFailure(error)?.constraint !== 'sso_domains_one_connection') throw error;
        const rows = await tx.query<{ domain: string }>(TAKEN, [proven, id]);
        throw takenElsewhere(all, new Set(rows.map(({ domain }) => domain)));
      });
  }

  /** From then on no domain leads to the connection. */
  async release(tx: Transaction, connectionId: string): Promise<void> {
    await tx.query(RELEASE, [tx.organizationId, connectionId, []]);
  }
}

function takenElsewhere(domains: readonly string[], taken: ReadonlySet<string>): Problem {
  const detail = 'The domain leads to another connection.';
  return new Problem('duplicate_value', {
    detail,
    errors: domains.flatMap((domain, at) =>
      taken.has(domain)
        ? [{ pointer: `/domains/${String(at)}`, code: 'duplicate_value' as const, detail }]
        : [],
    ),
  });
}
