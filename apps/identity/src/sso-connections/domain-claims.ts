import { Injectable } from '@nestjs/common';
import {
  Clock,
  postgresFailure,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { SsoConnection } from './sso-connection.entity.js';

const HELD = 'SELECT domain FROM sso_domains WHERE organization_id = $1 AND connection_id = $2';
const RELEASE = `
DELETE FROM sso_domains
 WHERE organization_id = $1 AND connection_id = $2 AND NOT domain = ANY ($3::text[])`;
/** In one order, so that two who claim the same ones wait for each other instead of deadlocking. */
const CLAIM = `
INSERT INTO sso_domains (organization_id, connection_id, domain, proven_at)
SELECT $1, $2, domain, $4 FROM unnest($3::text[]) AS domain ORDER BY domain
ON CONFLICT (organization_id, connection_id, domain) DO NOTHING`;
const TAKEN = `
SELECT domain FROM sso_domains WHERE domain = ANY ($1::text[]) AND connection_id <> $2 ORDER BY domain`;

/** What `sso_domains` holds: the proven domains of active connections, each once on the platform (identity.md §6). */
@Injectable()
export class DomainClaims {
  constructor(private readonly clock: Clock) {}

  /** The domains that lead to the connection now. */
  async held(tx: Transaction, connectionId: string): Promise<ReadonlySet<string>> {
    const rows = await tx.query<{ domain: string }>(HELD, [tx.organizationId, connectionId]);
    return new Set(rows.map(({ domain }) => domain));
  }

  /**
   * Leads exactly the connection's domains to it, all of them proven. Of two organizations at once one is first.
   * @throws Problem `duplicate_value` where one leads elsewhere, which says nothing more
   */
  async claim(tx: WorkerTransaction, { id, domains }: Pick<SsoConnection, 'id' | 'domains'>): Promise<void> {
    await tx.query(RELEASE, [tx.organizationId, id, domains]);
    await tx
      .savepoint(() => tx.query(CLAIM, [tx.organizationId, id, domains, this.clock.now()]))
      .catch(async (error: unknown) => {
        if (postgresFailure(error)?.constraint !== 'sso_domains_one_connection') throw error;
        const rows = await tx.query<{ domain: string }>(TAKEN, [domains, id]);
        throw takenElsewhere(domains, new Set(rows.map(({ domain }) => domain)));
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
