import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { MinuteCalls, type CallBounds } from '../../background/call-bounds/minute-calls.js';
import { DomainChecker } from './dns/domain-checker.js';
import { DomainChecks } from './domain-checks.js';
import type { SenderDomainEntity } from './sender-domain.entity.js';
import { SenderDomainsService } from './sender-domains.service.js';

/** How often organizations make the platform ask other people's name servers. */
const BOUNDS: CallBounds = {
  table: 'sender_domain_calls',
  inAMinute: { ofTenant: 90, ofOrganization: 30 },
  atOnce: { inAll: 50, ofTenant: 10, ofOrganization: 5 },
  detail: 'Too many domains are being verified',
};

/** Checks of domains that somebody asks for. */
@Injectable()
export class VerificationService {
  constructor(
    private readonly domains: SenderDomainsService,
    private readonly checker: DomainChecker,
    private readonly checks: DomainChecks,
    private readonly calls: MinuteCalls,
    private readonly database: Database,
  ) {}

  /**
   * Asks DNS now, for five seconds at most; no connection is held meanwhile.
   * @throws Problem `not_found`, `resource_deleted`, `rate_limited`
   */
  async verify(context: RequestContext, id: string): Promise<SenderDomainEntity> {
    const row = await this.domains.get(context, id);
    if (row.deletedAt) throw new Problem('resource_deleted');
    const check = await this.calls.hold(context, BOUNDS, () => this.checker.check(row));
    await this.database.inOrganization(context, (tx) =>
      this.checks.apply(tx, context, id, check, { asked: true }),
    );
    return this.domains.get(context, id);
  }
}
