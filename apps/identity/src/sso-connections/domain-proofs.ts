import { createHmac, hkdfSync } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import type { SsoConnection } from './sso-connection.entity.js';
import { SSO_CONFIG, type SsoConfig } from './sso.config.js';

const TIMEOUT_MS = 2_000;
const TRIES = 2;
const LABEL = '_customer-platform';
const MARK = 'customer-platform-verification=';
/** Codes by which a name server says that there is nothing; every other failure is silence. */
const NOTHING = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME']);

/** Whose provider a proof is for. */
export type ProvenTo = Pick<SsoConnection, 'organizationId' | 'issuer' | 'clientId'>;

/** The TXT record that proves a domain. */
export interface DomainProof {
  readonly domain: string;
  readonly name: string;
  readonly value: string;
}

/** What DNS says of a proof; `silent`: nothing, so that it is as good as before. */
export type ProofFinding = 'found' | 'of_organization' | 'missing' | 'silent';

/**
 * Proof that whoever writes a domain's zone wants its people to sign in at this provider (identity.md §6). The text is an
 * HMAC of organization, domain, issuer and client: stored nowhere, of no use to another organization, and void once the
 * connection leads elsewhere.
 */
@Injectable()
export class DomainProofs {
  private readonly key: Buffer;

  constructor(@Inject(SSO_CONFIG) private readonly config: SsoConfig) {
    const { root } = config.keyring;
    this.key = Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), 'identity SSO domain proofs', 32));
  }

  /** What is to be published for each domain. */
  of({ organizationId, issuer, clientId }: ProvenTo, domains: readonly string[]): DomainProof[] {
    return domains.map((domain) => ({
      domain,
      name: `${LABEL}.${domain}`,
      value: this.text(JSON.stringify([organizationId, domain, issuer, clientId])),
    }));
  }

  /** The proof that the release before has people publish: it names no provider. */
  ofOrganization({ organizationId }: Pick<ProvenTo, 'organizationId'>, domain: string): DomainProof {
    return { domain, name: `${LABEL}.${domain}`, value: this.text(`${organizationId}\n${domain}`) };
  }

  /**
   * Asks DNS for each that is `open`. A name server that is silent proves nothing.
   * @throws Problem `domain_unverified`, naming those without proof by their place in `domains`
   */
  async demand(to: ProvenTo, domains: readonly string[], open: readonly string[]): Promise<void> {
    const found = await Promise.all(open.map((domain) => this.look(to, domain)));
    const lacking = open.filter((_, at) => found[at] !== 'found');
    if (lacking.length > 0) throw this.unverified(to, domains, lacking);
  }

  /** The refusal, for domains that nobody has asked DNS about or that DNS knows nothing of. */
  unverified(to: ProvenTo, domains: readonly string[], lacking: readonly string[]): Problem {
    const errors = this.of(to, lacking).map(({ domain, name, value }): FieldError => {
      const detail = `There is no TXT record ${name} that says ${value}.`;
      return { pointer: `/domains/${String(domains.indexOf(domain))}`, code: 'domain_unverified', detail };
    });
    return new Problem('domain_unverified', {
      detail: `${String(lacking.length)} of the domains are not proven.`,
      errors,
    });
  }

  /** Asks DNS; `of_organization` is the text of the release before, which names no provider. Never throws. */
  async look(to: ProvenTo, domain: string): Promise<ProofFinding> {
    const [proof] = this.of(to, [domain]);
    const texts = await this.texts(`${LABEL}.${domain}`);
    if (texts === 'silent') return 'silent';
    if (proof && texts.includes(proof.value)) return 'found';
    return texts.includes(this.ofOrganization(to, domain).value) ? 'of_organization' : 'missing';
  }

  private async texts(name: string): Promise<string[] | 'silent'> {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (this.config.dnsServers) resolver.setServers(this.config.dnsServers);
    try {
      // A text longer than 255 bytes comes in pieces that belong together.
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join('').trim());
    } catch (error) {
      const says = error instanceof Error && 'code' in error ? String(error.code) : '';
      return NOTHING.has(says) ? [] : 'silent';
    }
  }

  private text(of: string): string {
    return MARK + createHmac('sha256', this.key).update(of).digest('base64url');
  }
}
