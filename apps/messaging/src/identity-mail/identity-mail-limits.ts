import { Injectable } from '@nestjs/common';
import {
  afterLocks,
  Clock,
  Database,
  type RetentionOptions,
  type WorkerTransaction,
} from '@customer-platform/database';
import type { CheckedAddress } from '../addresses/address.js';
import { locksOf } from '../addresses/address-keys.js';
import { AddressKeys } from '../addresses/address-keys.provider.js';
import type { LinkKind } from './identity-links.js';

const DAY_MS = 86_400_000;

/** How many mails of a kind leave within a day. */
interface DailyLimits {
  /** To one mailbox, whoever of all the platform's organizations has it written to. */
  readonly ofAddress: number;
  /** Of one tenant: the organization below the root with all beneath it. */
  readonly ofTenant: number;
}

/**
 * Each kind has its own, so that no mail of one kind uses up the places of another (identity.md §3). To one address as
 * many invitations as a single one and its resends are. New passwords are limited where they are asked for (identity.md
 * §5): a mail that is held would outlive its token, and a tenant's limit would let a stranger use it up for everybody.
 */
const LIMITS: Readonly<Record<LinkKind, DailyLimits | null>> = {
  invitation: { ofAddress: 6, ofTenant: 1_000 },
  password_reset: null,
};

/** What left longer than a day ago counts for nothing. */
export const OLD_IDENTITY_MAILS: RetentionOptions = {
  name: 'identity-mail-limit-retention',
  table: 'identity_mails',
  where: 'old.counted_at < $1',
  oldestBy: 'counted_at',
  keptMs: DAY_MS,
};

const COUNTED = 'SELECT 1 FROM identity_mails WHERE organization_id = $1 AND send_id = $2';
const LOCK = 'SELECT pg_advisory_xact_lock($1::bigint)';
/** The mail whose place comes free next, where as many as may be have left since; and nothing otherwise. */
const fullBy = (condition: string): string => `
  SELECT counted_at FROM identity_mails
   WHERE organization_id = $1 AND kind = $2 AND ${condition} AND counted_at > $4
   ORDER BY counted_at DESC OFFSET $5 - 1 LIMIT 1`;
const FULL_BY_ADDRESS = fullBy('address_key = ANY ($3::text[])');
const FULL_BY_TENANT = fullBy('tenant_id = $3');
const COUNT = `
  INSERT INTO identity_mails (organization_id, send_id, kind, address_key, tenant_id, counted_at)
  VALUES ($1, $2, $3, $4, $5, $6)`;

/** A mail of identity's that is about to leave. */
export interface CountedMail {
  readonly sendId: string;
  readonly kind: LinkKind;
  readonly address: CheckedAddress;
  readonly tenantId: string;
  /** Under whom it is counted: the root. */
  readonly platformId: string;
}

/**
 * Keeps anybody who may invite from filling a stranger's mailbox, and a tenant from mailing the world by the platform's
 * sender (ADR 0404). Counted is what leaves: what is withdrawn before has no place.
 */
@Injectable()
export class IdentityMailLimits {
  constructor(
    private readonly database: Database,
    private readonly keys: AddressKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes a place for the mail; one that has one keeps it, however often it is tried.
   * @returns undefined, or when to ask again where there is none
   */
  async take(mail: CountedMail): Promise<Date | undefined> {
    const limits = LIMITS[mail.kind];
    if (limits === null) return undefined;
    const { platformId, sendId, kind, tenantId } = mail;
    const keys = this.keysOf(mail);
    return this.database.acrossOrganizations(async (tx) => {
      const locks = [`identity-mail ${kind} ${keys.current}`, `identity-mail ${kind} ${tenantId}`];
      const take = async (): Promise<void> => {
        for (const lock of locksOf(locks)) await tx.query(LOCK, [lock]);
      };
      const [, now] = await afterLocks(this.clock, take());
      if ((await tx.query(COUNTED, [platformId, sendId])).length > 0) return undefined;
      const full =
        (await nextFree(tx, FULL_BY_ADDRESS, [platformId, kind, keys.own, now, limits.ofAddress])) ??
        (await nextFree(tx, FULL_BY_TENANT, [platformId, kind, tenantId, now, limits.ofTenant]));
      if (full) return full;
      await tx.query(COUNT, [platformId, sendId, kind, keys.current, tenantId, now]);
      return undefined;
    });
  }

  /** Of the mailbox: who writes to `name+1@` and `name+2@` writes to one person. */
  private keysOf({ platformId, address }: CountedMail) {
    const canonical = address.untagged ?? address.canonical;
    return this.keys.of(platformId, { ...address, canonical });
  }
}

async function nextFree(
  tx: WorkerTransaction,
  sql: string,
  [platformId, kind, of, now, most]: readonly [string, LinkKind, string | readonly string[], Date, number],
): Promise<Date | undefined> {
  const since = new Date(now.getTime() - DAY_MS);
  const [next] = await tx.query<{ counted_at: Date }>(sql, [platformId, kind, of, since, most]);
  return next && new Date(next.counted_at.getTime() + DAY_MS);
}
