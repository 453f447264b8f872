import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Audit, systemActor } from '@customer-platform/audit';
import {
  afterLocks,
  Clock,
  Database,
  isTransient,
  ranOut,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { ItemBackoff, log, WorkerJob } from '@customer-platform/http';
import { SessionEndings } from '../sessions/session-endings.js';
import { DomainProofs, type ProofFinding } from './domain-proofs.js';
import { SsoConnection, ssoConnectionEvent } from './sso-connection.entity.js';

/** Its name in metrics and log lines. */
const JOB = 'sso-domains';
const EVERY_MS = 60_000;
/** Checked at once: each takes some seconds at most. */
const AT_ONCE = 10;
/** A process that dies in the middle of it leaves a domain to the others after so long. */
const LEASE_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
const DAILY_MS = 24 * HOUR_MS;
/** A proof may be missing for so long, as a record of a sender domain may. */
const FAILS_AFTER_MS = 72 * HOUR_MS;
/** Where DNS did not answer. */
const ASK_AGAIN_MS = HOUR_MS;

/** A claim as it was when DNS was asked. */
interface Due {
  readonly organizationId: string;
  readonly connectionId: string;
  readonly domain: string;
  readonly provenAt: Date;
  readonly issuer: string;
  readonly clientId: string;
}

interface Claim {
  readonly namesProvider: boolean;
  readonly failingSince: Date | null;
}

/** What becomes of a claim. */
interface Standing extends Claim {
  readonly nextCheckAt: Date;
}

/**
 * Finds of each tenant the one that has waited longest before the second of any, and within a tenant the same by
 * organization: whoever founds further ones has no more turns.
 */
const NEXT = `
  SELECT domain FROM (
    SELECT domain, next_check_at, row_number() OVER (PARTITION BY tenant ORDER BY turn, next_check_at, domain) AS turn
      FROM (
        SELECT claim.domain, claim.next_check_at, coalesce(owner.path[2], owner.path[1]) AS tenant,
               row_number() OVER (PARTITION BY claim.organization_id
                                  ORDER BY claim.next_check_at, claim.domain) AS turn
          FROM sso_domains AS claim JOIN organizations AS owner ON owner.organization_id = claim.organization_id
         WHERE claim.next_check_at <= $1 AND claim.domain <> ALL ($2::text[])) AS own) AS waiting
   ORDER BY turn, next_check_at LIMIT ${String(AT_ONCE)}`;
/** Each by itself, so that it is known which cannot be taken. What two instances see at once one of them has. */
const TAKE = `
  WITH due AS (
    SELECT domain FROM sso_domains WHERE domain = $1 AND next_check_at <= $2 FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE sso_domains AS claim SET next_check_at = $3
    FROM due, sso_connections AS connection
   WHERE claim.domain = due.domain AND connection.organization_id = claim.organization_id
     AND connection.id = claim.connection_id
  RETURNING claim.organization_id AS "organizationId", claim.connection_id AS "connectionId", claim.domain,
            claim.proven_at AS "provenAt", connection.issuer, connection.client_id AS "clientId"`;
const CLAIM = `
  SELECT names_provider AS "namesProvider", failing_since AS "failingSince" FROM sso_domains
   WHERE organization_id = $1 AND connection_id = $2 AND domain = $3 AND proven_at = $4 FOR UPDATE`;
const KEEP = `
  UPDATE sso_domains SET names_provider = $4, failing_since = $5, next_check_at = $6
   WHERE organization_id = $1 AND connection_id = $2 AND domain = $3`;
const LOSE = `DELETE FROM sso_domains WHERE organization_id = $1 AND connection_id = $2 AND domain = $3`;
const LEFT = `SELECT domain FROM sso_domains WHERE organization_id = $1 AND connection_id = $2`;
const TOUCH = `
  UPDATE sso_connections SET updated_at = greatest($3::timestamptz, updated_at + interval '1 millisecond')
   WHERE organization_id = $1 AND id = $2`;

/** Looks once a day whether domains are still proven to the providers that speak for their people (identity.md §6). */
@Injectable()
export class DomainRecheck extends WorkerJob {
  private readonly backoff: ItemBackoff;

  constructor(
    private readonly database: Database,
    private readonly proofs: DomainProofs,
    private readonly sessions: SessionEndings,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super({ name: JOB, takes: 'rows of sso_domains', everyMs: EVERY_MS });
    this.backoff = new ItemBackoff(JOB, clock, 2 * LEASE_MS);
  }

  protected override pass(): Promise<void> {
    return this.runAll();
  }

  /** Checks all that are due. */
  async runAll(): Promise<void> {
    for (let found = AT_ONCE; found === AT_ONCE && !this.job.stopping;) {
      const domains = await this.next();
      const looked = await Promise.all(domains.map((domain) => this.checkApart(domain)));
      // What others have taken is theirs.
      found = looked.includes(true) ? domains.length : 0;
      this.job.progressed();
    }
  }

  private async next(): Promise<string[]> {
    const values = [this.clock.now(), this.backoff.waiting()];
    const rows = await this.database.acrossOrganizations((tx) => tx.query<{ domain: string }>(NEXT, values));
    return rows.map(({ domain }) => domain);
  }

  private async take(domain: string): Promise<Due | undefined> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + LEASE_MS);
    const [due] = await this.database.acrossOrganizations((tx) => tx.query<Due>(TAKE, [domain, now, until]));
    return due;
  }

  /** One that cannot be checked holds up no other. @returns whether it was there @throws an outage, which stops all alike */
  private async checkApart(domain: string): Promise<boolean> {
    try {
      const due = await this.take(domain);
      if (!due) return false;
      const finding = await this.proofs.look(due, domain);
      await this.database.acrossOrganizations((tx) => this.apply(tx, due, finding));
      this.backoff.passed(domain);
    } catch (error) {
      // What ran out of time may be this domain's doing alone.
      if (isTransient(error) && !ranOut(error)) throw error;
      this.backoff.failed(domain, error);
    }
    return true;
  }

  private async apply(tx: WorkerTransaction, due: Due, finding: ProofFinding): Promise<void> {
    const { organizationId, connectionId, domain } = due;
    await tx.useOrganization(organizationId);
    const [held, now] = await afterLocks(this.clock, this.lock(tx, due));
    if (!held) return;
    const { claim, row } = held;
    const next = standingOf(claim, finding, now);
    const key = [organizationId, connectionId, domain];
    if (next) await tx.query(KEEP, [...key, next.namesProvider, next.failingSince, next.nextCheckAt]);
    else await tx.query(LOSE, key);
    if (next?.failingSince?.getTime() === claim.failingSince?.getTime()) return;
    await this.tell(tx, row, now);
    if (!next) await this.lost(tx, row);
  }

  /** Undefined where the connection leads elsewhere by now, or was proven anew: the answer says nothing of that. */
  private async lock(
    tx: WorkerTransaction,
    { organizationId, connectionId: id, domain, provenAt, issuer, clientId }: Due,
  ): Promise<{ claim: Claim; row: SsoConnection } | undefined> {
    const lock = { mode: 'pessimistic_write' } as const;
    const row = await tx.manager.findOne(SsoConnection, { where: { organizationId, id }, lock });
    if (row?.issuer !== issuer || row.clientId !== clientId) return undefined;
    const [claim] = await tx.query<Claim>(CLAIM, [organizationId, id, domain, provenAt]);
    return claim && { claim, row };
  }

  /** The connection has changed as far as whoever reads it sees. */
  private async tell(tx: WorkerTransaction, row: SsoConnection, now: Date): Promise<void> {
    const { organizationId, id } = row;
    await tx.query(TOUCH, [organizationId, id, now]);
    const context = systemActor(organizationId, randomUUID(), 'identity.sso');
    await this.audit.record(tx, context, {
      action: 'identity.sso.verify',
      resource: { type: 'sso', id },
      changedFields: ['domain_proofs'],
    });
    const event = ssoConnectionEvent({ verb: 'updated', before: row, row, changed: ['domainProofs'] });
    await this.outbox.append(tx, { ...event, organizationId, correlationId: context.correlationId });
  }

  /** The provider speaks for nobody of the domain any more. */
  private async lost(tx: WorkerTransaction, { organizationId, id }: SsoConnection): Promise<void> {
    const left = await tx.query<{ domain: string }>(LEFT, [organizationId, id]);
    const context = systemActor(organizationId, randomUUID(), 'identity.sso');
    const domains = left.map(({ domain }) => domain);
    await this.sessions.endOfConnection(tx, context, id, domains);
    tx.afterCommit(() =>
      log.warn({ connection: id }, 'A domain of an SSO connection has been without its proof for 72 h'),
    );
  }
}

/** How a claim goes on; undefined: not at all. Only an answer of DNS proves a domain, and only one counts against it. */
function standingOf(
  { namesProvider, failingSince }: Claim,
  finding: ProofFinding,
  now: Date,
): Standing | undefined {
  const after = (ms: number): Date => new Date(now.getTime() + ms);
  if (finding === 'silent') return { namesProvider, failingSince, nextCheckAt: after(ASK_AGAIN_MS) };
  if (finding === 'found') return { namesProvider: true, failingSince: null, nextCheckAt: after(DAILY_MS) };
  // As the release before has proven it, to this issuer and client.
  if (finding === 'of_organization' && !namesProvider)
    return { namesProvider, failingSince: null, nextCheckAt: after(DAILY_MS) };
  const since = failingSince ?? now;
  const end = new Date(since.getTime() + FAILS_AFTER_MS);
  if (end <= now) return undefined;
  return {
    namesProvider,
    failingSince: since,
    nextCheckAt: end < after(DAILY_MS) ? end : after(DAILY_MS),
  };
}
