import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { systemActor } from '@customer-platform/audit';
import { Clock, Database, ranOut } from '@customer-platform/database';
import { isInfrastructureError } from '@customer-platform/event-bus';
import { ItemBackoff, metrics, PollingJob } from '@customer-platform/http';
import { Gauge } from 'prom-client';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { Tenants } from '../../background/organizations/tenants.js';
import { DomainChecker } from './dns/domain-checker.js';
import { DomainChecks } from './domain-checks.js';
import { SenderDomainEntity } from './sender-domain.entity.js';

/** Its name in metrics and log lines. */
const JOB = 'sender-domains';
const EVERY_MS = 60_000;
/** Checked at once: each takes five seconds at most. */
const AT_ONCE = 10;
/** A process that dies in the middle of it leaves a domain to the others after so long. */
const LEASE_MS = 10 * 60_000;

interface Place {
  readonly organizationId: string;
  readonly id: string;
}

/** Looked at for each round: more than are taken, for other instances have some of them in hand. */
const NEXT = 5 * AT_ONCE;

const OWNERS = `
  SELECT DISTINCT organization_id AS id FROM sender_domains
   WHERE next_check_at <= $1 AND deleted_at IS NULL AND id <> ALL($2::uuid[])`;

/**
 * Of each tenant the one that has waited longest before the second of any, and within a tenant the same by organization:
 * whoever has many, or has founded many organizations, waits for whoever has one. What two instances see at once one of
 * them has. `$4` are the tenants of the organizations in `$3`.
 */
const DUE = `
  WITH own AS (
    SELECT domain.organization_id, domain.id, domain.next_check_at, owner.tenant,
           row_number() OVER (PARTITION BY domain.organization_id ORDER BY domain.next_check_at, domain.id) AS own_turn
      FROM sender_domains AS domain
      JOIN unnest($3::uuid[], $4::uuid[]) AS owner (organization_id, tenant)
        ON owner.organization_id = domain.organization_id
     WHERE domain.next_check_at <= $1 AND domain.deleted_at IS NULL AND domain.id <> ALL($2::uuid[])
  ), waiting AS MATERIALIZED (
    SELECT organization_id, id, next_check_at,
           row_number() OVER (PARTITION BY tenant ORDER BY own_turn, next_check_at, id) AS turn
      FROM own ORDER BY turn, next_check_at LIMIT ${String(NEXT)}
  )
  SELECT domain.organization_id AS "organizationId", domain.id FROM sender_domains AS domain
    JOIN waiting ON waiting.organization_id = domain.organization_id AND waiting.id = domain.id
   WHERE domain.next_check_at <= $1
   ORDER BY waiting.turn, waiting.next_check_at LIMIT ${String(AT_ONCE)} FOR NO KEY UPDATE OF domain SKIP LOCKED`;

const LEASE = `
  UPDATE sender_domains SET next_check_at = $2
   WHERE (organization_id, id) IN (SELECT * FROM unnest($3::uuid[], $4::uuid[])) AND next_check_at <= $1
  RETURNING organization_id AS "organizationId", id`;

const STANDING = `
  SELECT count(*)::int AS verified, count(failing_since)::int AS failing FROM sender_domains
   WHERE state = 'verified' AND deleted_at IS NULL`;

const verifiedDomains = new Gauge({
  name: 'sender_domains_verified',
  help: 'Sender domains that mail leaves from',
  registers: [metrics],
});
/** One of them is its owner's matter. Many at once are the name servers', which say of each that it has no records. */
const failingDomains = new Gauge({
  name: 'sender_domains_failing',
  help: 'Of those, how many have been without a required record since some check: they fail after 72 h',
  registers: [metrics],
});

/** Looks once a day whether the domains are still what they were. Runs where PROCESS_ROLE is not api. */
@Injectable()
export class DomainRecheck implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job = new PollingJob({
    name: JOB,
    takes: 'rows of sender_domains',
    everyMs: EVERY_MS,
    pass: () => this.runAll(),
  });
  private readonly backoff: ItemBackoff;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly checker: DomainChecker,
    private readonly checks: DomainChecks,
    private readonly tenants: Tenants,
    private readonly clock: Clock,
  ) {
    this.backoff = new ItemBackoff(JOB, clock, 2 * LEASE_MS);
  }

  onApplicationBootstrap(): void {
    if (this.config.worker) this.job.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  /** Checks all that are due. */
  async runAll(): Promise<void> {
    for (let seen = AT_ONCE; seen === AT_ONCE && !this.job.stopping;) {
      const due = await this.due();
      const taken = await this.take(due);
      await Promise.all(taken.map((place) => this.checkApart(place)));
      seen = due.length;
      this.job.progressed();
    }
    await this.measure();
  }

  private async measure(): Promise<void> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ verified: number; failing: number }>(STANDING),
    );
    verifiedDomains.set(row?.verified ?? 0);
    failingDomains.set(row?.failing ?? 0);
  }

  private due(): Promise<Place[]> {
    const values = [this.clock.now(), this.backoff.waiting()];
    return this.database.acrossOrganizations(async (tx) => {
      const owners = (await tx.query<{ id: string }>(OWNERS, values)).map(({ id }) => id);
      const tenants = owners.map((id) => this.tenants.of(id));
      return tx.query<Place>(DUE, [...values, owners, tenants]);
    });
  }

  /** One that cannot even be taken holds up no other. @returns those of them that no other instance has taken meanwhile */
  private async take(due: readonly Place[]): Promise<Place[]> {
    try {
      return await this.lease(due);
    } catch (error) {
      if (isInfrastructureError(error) && !ranOut(error)) throw error;
    }
    const taken: Place[] = [];
    for (const place of due) {
      try {
        taken.push(...(await this.lease([place])));
      } catch (error) {
        this.fail(place, error);
      }
    }
    return taken;
  }

  private lease(places: readonly Place[]): Promise<Place[]> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + LEASE_MS);
    const organizations = places.map(({ organizationId }) => organizationId);
    const values = [now, until, organizations, places.map(({ id }) => id)];
    return this.database.acrossOrganizations((tx) => tx.query<Place>(LEASE, values));
  }

  /** One that cannot be checked holds up no other. */
  private async checkApart(place: Place): Promise<void> {
    try {
      await this.check(place);
      this.backoff.passed(place.id);
    } catch (error) {
      this.fail(place, error);
    }
  }

  /** @throws an outage, which stops all alike */
  private fail({ id }: Place, error: unknown): void {
    if (isInfrastructureError(error) && !ranOut(error)) throw error;
    this.backoff.failed(id, error);
  }

  private async check({ organizationId, id }: Place): Promise<void> {
    const row = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.manager.findOne(SenderDomainEntity, { where: { organizationId, id } }),
    );
    if (!row || row.deletedAt) return;
    const check = await this.checker.check(row);
    const actor = systemActor(organizationId, randomUUID(), 'messaging.domains');
    await this.database.inOrganization({ organizationId }, (tx) =>
      this.checks.apply(tx, actor, id, check, { asked: false }),
    );
  }
}
