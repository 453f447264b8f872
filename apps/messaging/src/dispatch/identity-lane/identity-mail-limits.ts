import { Injectable } from '@nestjs/common';
import {
  afterLocks,
  Clock,
  Database,
  type RetentionOptions,
  type WorkerTransaction,
} from '@customer-platform/database';
import type { CheckedAddress } from '../../vocabulary/addresses/address.js';
import { locksOf } from '../../vocabulary/addresses/address-keys.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import type { LinkKind } from '../../vocabulary/sends/link-ref.js';

const DAY_MS = 86_400_000;

/** How many mails of a kind leave within a day. */
interface DailyLimits {
  /** Mails a day to one mailbox, whoever of all the platform's organizations has it written to. */
  readonly ofAddress: number;
  /** The mails that a tenant may have written; null where no tenant has mail written to whom it likes. */
  readonly byTenant: TenantLimits | null;
}

/** The mails of a kind that leave within a day for the organization below the root with all beneath it. */
interface TenantLimits {
  /** The most to one mailbox: less than it gets from all, so that none keeps it from the others. */
  readonly ofAddress: number;
  /** The most to all mailboxes. */
  readonly ofTenant: number;
}

/**
 * Each kind has its own, so that no mail of one kind uses up the places of another (identity.md §3). To one address a
 * third of the places at most is one tenant's, with however many children. New passwords are limited where they are asked for (identity.md
 * §5): a mail that is held would outlive its token, and a tenant's limit would let a stranger use it up for everybody.
 * Nor has what people are told of their accounts: it goes to who has one, and a colleague's mails keep nobody's away.
 */
const LIMITS: Readonly<Record<LinkKind, DailyLimits | null>> = {
  invitation: { ofAddress: 12, byTenant: { ofAddress: 4, ofTenant: 1_000 } },
  password_reset: null,
  account: { ofAddress: 20, byTenant: null },
};

/** Removes what left longer than a day ago: it counts for nothing. */
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
const FULL_BY_ADDRESS_AND_TENANT = fullBy('address_key = ANY ($3::text[]) AND tenant_id = $6');
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
  /** The organization under which it is counted: the root. */
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
      const of = { ...mail, keys: keys.own, now };
      const full =
        (limits.byTenant && (await freeOfTenant(tx, of, limits.byTenant))) ??
        (await nextFree(tx, FULL_BY_ADDRESS, [platformId, kind, keys.own, now, limits.ofAddress]));
      if (full) return full;
      await tx.query(COUNT, [platformId, sendId, kind, keys.current, tenantId, now]);
      return undefined;
    });
  }

  /** Keys of the mailbox: who writes to `name+1@` and `name+2@` writes to one person. */
  private keysOf({ platformId, address }: CountedMail) {
    const canonical = address.untagged ?? address.canonical;
    return this.keys.of(platformId, { ...address, canonical });
  }
}

/** The keys by which a mail is counted. */
interface Counting extends CountedMail {
  readonly keys: readonly string[];
  readonly now: Date;
}

async function freeOfTenant(
  tx: WorkerTransaction,
  { platformId, kind, tenantId, keys, now }: Counting,
  { ofAddress, ofTenant }: TenantLimits,
): Promise<Date | undefined> {
  return (
    (await nextFree(tx, FULL_BY_ADDRESS_AND_TENANT, [platformId, kind, keys, now, ofAddress], [tenantId])) ??
    nextFree(tx, FULL_BY_TENANT, [platformId, kind, tenantId, now, ofTenant])
  );
}

async function nextFree(
  tx: WorkerTransaction,
  sql: string,
  [platformId, kind, of, now, most]: readonly [string, LinkKind, string | readonly string[], Date, number],
  more: readonly string[] = [],
): Promise<Date | undefined> {
  const since = new Date(now.getTime() - DAY_MS);
  const [next] = await tx.query<{ counted_at: Date }>(sql, [...[platformId, kind, of, since, most], ...more]);
  return next && new Date(next.counted_at.getTime() + DAY_MS);
}
