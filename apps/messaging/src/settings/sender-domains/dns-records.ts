import { createHmac, hkdfSync } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';
import { ALGORITHMS, selectorOf, type DkimPair } from './dkim-pairs.js';
import { returnHostOf } from './return-host.js';

/** What a record is for. */
export const PURPOSES = ['ownership', 'dkim', 'spf', 'dmarc', 'return_path'] as const;
/** What DNS last said of a record; `unchecked`: nothing yet. */
export const STATUSES = ['unchecked', 'found', 'missing', 'wrong'] as const;
/** What about a record is wrong. */
export const FAULTS = [
  'other_value',
  'several_records',
  'invalid',
  'revoked',
  'too_many_lookups',
  'not_included',
  'permits_all',
  'too_large',
] as const;

export type Purpose = (typeof PURPOSES)[number];
export type Fault = (typeof FAULTS)[number];

/** What DNS answered about one record, and when it was asked. */
export interface Finding {
  readonly status: 'found' | 'missing' | 'wrong';
  readonly fault: Fault | null;
  readonly at: string;
}

/** Findings by {@link keyOf} a record. */
export type Findings = Readonly<Record<string, Finding>>;

/** A record that the organization is to publish. */
export interface WantedRecord {
  readonly purpose: Purpose;
  readonly type: 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  /** Whether the domain is verified by it; the others are good advice, or wait for a rotation. */
  readonly required: boolean;
}

const OWNERSHIP_LABEL = '_customer-platform';
const OWNERSHIP_MARK = 'customer-platform-sender=';

/** How a finding of a record is kept. */
export function keyOf({ purpose, name }: Pick<WantedRecord, 'purpose' | 'name'>): string {
  return `${purpose} ${name}`;
}

/** A sender domain as far as its records depend on it. */
export interface DomainOfRecords {
  readonly organizationId: string;
  readonly domain: string;
  readonly dkimKeys: readonly DkimPair[];
}

/** What organizations are to publish for their domains (messaging.md §10). */
export class DnsRecords {
  private readonly key: Buffer;

  /** @param spfInclude whose SPF record names the servers that mail leaves by; undefined: each organization's own */
  constructor(
    keyring: Keyring,
    private readonly spfInclude: string | undefined,
    private readonly returnHost?: string,
  ) {
    this.key = Buffer.from(
      hkdfSync('sha256', keyring.root, Buffer.alloc(0), 'messaging sender domain proofs', 32),
    );
  }

  of({ organizationId, domain, dkimKeys }: DomainOfRecords): WantedRecord[] {
    return [
      {
        purpose: 'ownership',
        type: 'TXT',
        name: `${OWNERSHIP_LABEL}.${domain}`,
        value: OWNERSHIP_MARK + this.proofOf(organizationId, domain),
        required: true,
      },
      ...dkimKeys.flatMap((pair) => dkimRecords(domain, pair)),
      { purpose: 'spf', type: 'TXT', name: domain, value: this.spfValue(), required: false },
      { purpose: 'dmarc', type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', required: false },
      ...this.returnPath(domain),
    ];
  }

  /** One alias for the MX and the SPF record of the platform's host: return paths below the domain itself agree with it. */
  private returnPath(domain: string): WantedRecord[] {
    if (this.returnHost === undefined) return [];
    const name = returnHostOf(domain);
    return [{ purpose: 'return_path', type: 'CNAME', name, value: this.returnHost, required: false }];
  }

  /** Where no server is the platform's own, any one valid record will do; this one names what the domain has itself. */
  private spfValue(): string {
    return `v=spf1 ${this.spfInclude === undefined ? 'a mx' : `include:${this.spfInclude}`} ~all`;
  }

  /** Of organization and domain: stored nowhere, and of no use to another organization. */
  private proofOf(organizationId: string, domain: string): string {
    return createHmac('sha256', this.key).update(`${organizationId}\n${domain}`).digest('base64url');
  }
}

function dkimRecords(domain: string, pair: DkimPair): WantedRecord[] {
  return ALGORITHMS.map((algorithm) => ({
    purpose: 'dkim',
    type: 'TXT',
    name: `${selectorOf(pair, algorithm)}._domainkey.${domain}`,
    value: `v=DKIM1; k=${algorithm}; p=${pair[algorithm].public}`,
    // Every verifier knows RSA; the other key signs as well where its record is found.
    required: algorithm === 'rsa' && pair.use === 'signing',
  }));
}
