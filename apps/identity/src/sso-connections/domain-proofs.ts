import { createHmac, hkdfSync } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import type { DomainProofDto } from './sso-connection.dto.js';
import { SSO_CONFIG, type SsoConfig } from './sso.config.js';

const TIMEOUT_MS = 2_000;
const TRIES = 2;
const LABEL = '_customer-platform';
const MARK = 'customer-platform-verification=';

/**
 * Proof that a domain is an organization's: a TXT record that only who writes the domain's zone can make (identity.md
 * §6). Its text is an HMAC of organization and domain: stored nowhere, and of no use to another organization.
 */
@Injectable()
export class DomainProofs {
  private readonly key: Buffer;

  constructor(@Inject(SSO_CONFIG) private readonly config: SsoConfig) {
    const { root } = config.keyring;
    this.key = Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), 'identity SSO domain proofs', 32));
  }

  /** What the organization has to publish for each domain. */
  of(organizationId: string, domains: readonly string[]): DomainProofDto[] {
    return domains.map((domain) => ({
      domain,
      name: `${LABEL}.${domain}`,
      value: MARK + this.mac(organizationId, domain),
    }));
  }

  /**
   * Asks DNS for each that is `open`. A name server that is silent proves nothing.
   * @throws Problem `domain_unverified`, naming those without proof by their place in `domains`
   */
  async demand(organizationId: string, domains: readonly string[], open: readonly string[]): Promise<void> {
    const found = await Promise.all(this.of(organizationId, open).map((proof) => this.isPublished(proof)));
    const lacking = open.filter((_, at) => !found[at]);
    if (lacking.length > 0) throw this.unverified(organizationId, domains, lacking);
  }

  /** The refusal, for domains that nobody has asked DNS about or that DNS knows nothing of. */
  unverified(organizationId: string, domains: readonly string[], lacking: readonly string[]): Problem {
    const errors = this.of(organizationId, lacking).map(({ domain, name, value }): FieldError => {
      const detail = `There is no TXT record ${name} that says ${value}.`;
      return { pointer: `/domains/${String(domains.indexOf(domain))}`, code: 'domain_unverified', detail };
    });
    return new Problem('domain_unverified', {
      detail: `${String(lacking.length)} of the domains are not proven.`,
      errors,
    });
  }

  private async isPublished({ name, value }: DomainProofDto): Promise<boolean> {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (this.config.dnsServers) resolver.setServers(this.config.dnsServers);
    try {
      // A text longer than 255 bytes comes in pieces that belong together.
      return (await resolver.resolveTxt(name)).some((pieces) => pieces.join('').trim() === value);
    } catch {
      return false;
    }
  }

  private mac(organizationId: string, domain: string): string {
    return createHmac('sha256', this.key).update(`${organizationId}\n${domain}`).digest('base64url');
  }
}
