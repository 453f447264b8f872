import { Inject, Injectable } from '@nestjs/common';
import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { domainOf, type Sender } from '../../vocabulary/senders/sender.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import type { DkimPair } from './dkim-pairs.js';
import type { Findings } from './dns-records.js';

/** A verified domain with what mail from it is signed by. */
export interface VerifiedDomain {
  readonly organizationId: string;
  readonly id: string;
  readonly domain: string;
  readonly dkimKeys: readonly DkimPair[];
  readonly findings: Findings;
}

/** A sender of an organization. */
export interface OwnedSender {
  readonly organizationId: string;
  readonly sender: Sender;
}

/** The verified domains of some senders. */
export interface KnownSenders {
  /** Whether mail may leave from there. */
  permits(owned: OwnedSender): boolean;
  /** By whose keys it is signed; undefined: it is not. */
  domainOf(owned: OwnedSender): VerifiedDomain | undefined;
}

const VERIFIED = `
  SELECT organization_id AS "organizationId", id, domain, dkim_keys AS "dkimKeys", findings FROM sender_domains
   WHERE (organization_id, domain) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
     AND state = 'verified' AND deleted_at IS NULL`;

/** Says of a sender whether mail may leave from there. */
type SenderCheck = (owned: OwnedSender) => boolean;

/**
 * The one place that says from where mail may leave: of channel settings, at the acceptance of a send and in the gate
 * (messaging.md §10). In local mode from everywhere: nothing leaves the machine. Elsewhere from everywhere while
 * `SENDER_DOMAINS_REQUIRED` is false; what leaves from a verified domain is signed all the same.
 */
@Injectable()
export class VerifiedSenders {
  constructor(@Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig) {}

  /** Of several organizations in a worker's transaction, or of the transaction's own. */
  async of(tx: Transaction | WorkerTransaction, senders: readonly OwnedSender[]): Promise<KnownSenders> {
    const wanted = new Map(senders.map((owned) => [keyOf(owned), owned]));
    const rows = wanted.size === 0 ? [] : await this.read(tx, [...wanted.values()]);
    const verified = new Map(rows.map((row) => [`${row.organizationId} ${row.domain}`, row]));
    return {
      permits: (owned) => !this.config.senderDomainsRequired || verified.has(keyOf(owned)),
      domainOf: (owned) => verified.get(keyOf(owned)),
    };
  }

  /** What may be asked of `senders`; where all are permitted nothing is read for it. */
  async check(tx: Transaction, senders: readonly OwnedSender[]): Promise<SenderCheck> {
    if (!this.config.senderDomainsRequired) return () => true;
    const known = await this.of(tx, senders);
    return (owned) => known.permits(owned);
  }

  /** Of the transaction's organization. @throws Problem `sender_domain_unverified`, naming the field */
  async demand(tx: Transaction, sender: Sender, pointer: string): Promise<void> {
    const owned = { organizationId: tx.organizationId, sender };
    const permits = await this.check(tx, [owned]);
    if (!permits(owned)) throw unverified(sender, pointer);
  }

  private read(
    tx: Transaction | WorkerTransaction,
    senders: readonly OwnedSender[],
  ): Promise<VerifiedDomain[]> {
    return tx.prepared<VerifiedDomain>(VERIFIED, [
      senders.map(({ organizationId }) => organizationId),
      senders.map(({ sender }) => domainOf(sender)),
    ]);
  }
}

/** The refusal of a sender; `pointer` where the request itself names it. */
export function unverified(sender: Sender, pointer?: string): Problem {
  const detail = `The domain ${domainOf(sender)} is not verified.`;
  if (pointer === undefined) return new Problem('sender_domain_unverified', { detail });
  return Problem.validation([{ pointer, code: 'sender_domain_unverified', detail }]);
}

function keyOf({ organizationId, sender }: OwnedSender): string {
  return `${organizationId} ${domainOf(sender)}`;
}
