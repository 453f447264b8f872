import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import {
  Database,
  ResourceStores,
  type Patch,
  type ResourceStore,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import {
  canonicalLocale,
  canonicalTimeZone,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Administrators } from '../memberships/administrators.js';
import { FactorRemoval } from '../mfa/factor-removal.js';
import { demandHeld } from '../vocabulary/escalation.js';
import { RoleGrants } from '../roles/role-grants.js';
import { SessionEndings } from '../sessions/session-endings.js';
import { AddressProbes } from './address-probes.js';
import type { CreateUserDto, OwnChanges, UpdateUserDto, SeenUser } from './user.dto.js';
import { User, userEvent } from './user.entity.js';
import { lockManaged } from './user-standing.js';
import { addressForms, keptAddress } from '../vocabulary/is-email-address.js';

const WITH_FACTOR = `
SELECT DISTINCT user_id FROM mfa_factors WHERE user_id = ANY ($1::uuid[]) AND confirmed_at IS NOT NULL`;
/** Refusals by which an address is known to be taken, elsewhere perhaps. */
const TELL_OF_ADDRESSES = new Set(['duplicate_value', 'restore_conflict']);
/** What is the user's alone. */
const FORGET = ['sessions', 'mfa_factors', 'recovery_codes', 'mfa_failures', 'sso_links'].map(
  (table) => `DELETE FROM ${table} WHERE user_id = $1`,
);
const FORGET_IMPERSONATIONS = 'DELETE FROM impersonations WHERE $1 IN (user_id, actor_id)';
const MEMBERSHIPS = 'SELECT count(*)::int AS count FROM memberships WHERE user_id = $1';

/**
 * People (identity.md §3). A user belongs to its home, which alone changes it, and only while the user is a member
 * nowhere else: no organization takes over another's user.
 */
@Injectable()
export class UsersService {
  private readonly users: ResourceStore<User>;

  constructor(
    private readonly database: Database,
    private readonly probes: AddressProbes,
    private readonly administrators: Administrators,
    private readonly grants: RoleGrants,
    private readonly sessions: SessionEndings,
    private readonly factors: FactorRemoval,
    private readonly audit: Audit,
    stores: ResourceStores,
  ) {
    this.users = stores.of<User>({
      entity: User,
      module: 'identity',
      resource: 'users',
      reach: {
        condition:
          '(organization_id = $1 OR id IN (SELECT user_id FROM memberships WHERE organization_id = $1))',
        key: (id) => ({ id }),
      },
      constraints: { unique: { users_email: { field: 'email', pointer: '/email', value: 'lower(email)' } } },
      event: userEvent,
    });
  }

  async list(context: RequestContext, query: ListQuery): Promise<Page<SeenUser>> {
    const { data, page } = await this.users.page(context, query);
    return { data: await this.database.acrossOrganizations((tx) => withFactors(tx, data)), page };
  }

  get(context: RequestContext, id: string): Promise<SeenUser> {
    return this.users.get(context, id).then((user) => this.seen(user));
  }

  /** Gives no membership. @throws Problem `duplicate_value`, `rate_limited` after too many of those */
  async create(context: RequestContext, { email, name, locale }: CreateUserDto): Promise<SeenUser> {
    const values = { email: keptAddress(email), name, locale: tag(locale), status: 'invited' as const };
    const creating = async (tx: Transaction): Promise<User> => {
      await this.probes.demandRoom(tx);
      const row = { ...values, emailVerified: false, lastSignInAt: null };
      const user = await this.users.create(context, row, { tx });
      // Once others have used the probes up, one that is let in would tell that the rest are known.
      await this.probes.demandRoom(tx);
      return user;
    };
    const create = () => this.database.inOrganization(context, creating);
    return { user: await this.probing(context, create), mfaEnabled: false };
  }

  /**
   * @throws Problem `user_not_managed`, `resource_deleted`, `etag_mismatch`, `invalid_state` for what the user's
   *   state does not allow, `duplicate_value`, `privilege_escalation`, `last_administrator`, `rate_limited` as `create`
   */
  async update(context: RequestContext, id: string, body: UpdateUserDto): Promise<SeenUser> {
    const readdresses =
      body.email !== undefined &&
      !addressForms(body.email).includes((await this.users.get(context, id)).email);
    const change = async (tx: WorkerTransaction): Promise<User> => {
      if (readdresses) await this.probes.demandRoom(tx);
      if (await this.givesRights(tx, context, id, body))
        demandHeld(context, await this.grants.heldBy(tx, id));
      const updated = await this.users.update(context, id, (row) => patchOf(row, body), { tx });
      if (body.status === 'suspended') {
        await this.sessions.endAll(tx, context, { userId: id }, 'user_disabled');
      }
      if (body.reset_mfa) await this.resetFactors(tx, context, id);
      if (readdresses) await this.probes.demandRoom(tx);
      return updated;
    };
    const write = () => this.write(context, id, change);
    return this.seen(await (readdresses ? this.probing(context, write) : write()));
  }

  /** The user's own change, in the transaction of the home. @throws Problem `resource_deleted`, `etag_mismatch` */
  async updateOwn(
    tx: WorkerTransaction,
    context: RequestContext,
    id: string,
    { name, locale, timezone }: OwnChanges,
  ): Promise<SeenUser> {
    const zone = typeof timezone === 'string' ? (canonicalTimeZone(timezone) ?? timezone) : timezone;
    const patch: Patch<User> = {
      ...(name === undefined ? {} : { name }),
      ...(locale === undefined ? {} : { locale: tag(locale) }),
      ...(zone === undefined ? {} : { timezone: zone }),
    };
    return seenIn(tx, await this.users.update(context, id, patch, { tx }));
  }

  /** Whether the change lets somebody act who cannot now: by another address, without a factor, or active again. */
  private async givesRights(
    tx: WorkerTransaction,
    context: RequestContext,
    id: string,
    { email, reset_mfa, status }: UpdateUserDto,
  ): Promise<boolean> {
    if (email !== undefined || reset_mfa) return true;
    return status === 'active' && (await this.users.get(context, id, 'any', tx)).status === 'suspended';
  }

  /** Ends all sessions; memberships rest until a restore. @throws Problem `user_not_managed`, `last_administrator` */
  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.write(context, id, async (tx) => {
      await this.users.softDelete(context, id, { tx });
      await this.sessions.endAll(tx, context, { userId: id }, 'user_disabled');
    });
  }

  /**
   * Memberships hold again, sessions do not.
   * @throws Problem `privilege_escalation`, `not_deleted`, `restore_conflict`, `rate_limited` as `create`
   */
  async restore(context: RequestContext, id: string): Promise<SeenUser> {
    const guard = async (tx: Transaction): Promise<void> => {
      demandHeld(context, await this.grants.heldBy(tx, id));
      await this.probes.demandRoom(tx);
    };
    const change = async (tx: WorkerTransaction): Promise<User> => {
      const restored = await this.users.restore(context, id, { tx, guard });
      await this.probes.demandRoom(tx);
      return restored;
    };
    return this.seen(await this.probing(context, () => this.write(context, id, change)));
  }

  /** A change that is refused where somebody elsewhere has the address: each refusal tells that, and counts. */
  private async probing<T>(context: RequestContext, change: () => Promise<T>): Promise<T> {
    await this.probes.demandRoomOfTenant(context);
    try {
      return await change();
    } catch (error) {
      if (error instanceof Problem && TELL_OF_ADDRESSES.has(error.code)) await this.probes.take(context);
      throw error;
    }
  }

  /** @throws Problem `user_not_managed`, `not_soft_deleted`, `resource_referenced` while a membership is left */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.write(context, id, (tx) =>
      this.users.purge(context, id, { tx, guard: () => demandUnreferenced(tx, id) }),
    );
  }

  private async resetFactors(tx: WorkerTransaction, context: RequestContext, id: string): Promise<void> {
    await this.factors.removeAll(tx, context, id);
    await this.sessions.endAll(tx, context, { userId: id }, 'mfa_changed');
    await this.audit.record(tx, context, {
      action: 'identity.users.update',
      resource: { type: 'users', id },
      changedFields: ['reset_mfa'],
    });
  }

  /** A write to a user whom the caller's organization manages. */
  private write<T>(
    context: RequestContext,
    id: string,
    work: (tx: WorkerTransaction) => Promise<T>,
  ): Promise<T> {
    return this.database.acrossOrganizations(async (tx) => {
      await lockManaged(tx, context, id);
      return this.administrators.keepingOne(tx, context.organizationId, () => work(tx));
    });
  }

  private seen(user: User): Promise<SeenUser> {
    return this.database.acrossOrganizations((tx) => seenIn(tx, user));
  }
}

async function seenIn(tx: WorkerTransaction, user: User): Promise<SeenUser> {
  const [seen] = await withFactors(tx, [user]);
  return seen ?? { user, mfaEnabled: false };
}

/** Whether they have a second factor, which is their home's to know too: any organization's transaction sees its own only. */
async function withFactors(tx: WorkerTransaction, users: readonly User[]): Promise<SeenUser[]> {
  const ids = users.map(({ id }) => id);
  const rows = await tx.query<{ user_id: string }>(WITH_FACTOR, [ids]);
  const enabled = new Set(rows.map(({ user_id }) => user_id));
  return users.map((user) => ({ user, mfaEnabled: enabled.has(user.id) }));
}

async function demandUnreferenced(tx: Transaction, id: string): Promise<void> {
  const [row] = await tx.query<{ count: number }>(MEMBERSHIPS, [id]);
  if (row && row.count > 0) {
    const references = [{ module: 'identity', resource: 'memberships', count: row.count }];
    throw new Problem('resource_referenced', { members: { references } });
  }
  for (const statement of [...FORGET, FORGET_IMPERSONATIONS]) await tx.query(statement, [id]);
}

function patchOf(user: User, { email, name, locale, status }: UpdateUserDto): Patch<User> {
  const address = email === undefined ? undefined : settled(user, email);
  if (address !== undefined && address !== user.email && user.status !== 'invited') {
    throw invalidState('The address is settled once the user has accepted an invitation.', user);
  }
  if (status !== undefined && user.status === 'invited') {
    throw invalidState('The user has not accepted an invitation yet.', user);
  }
  return {
    ...(address === undefined ? {} : { email: address }),
    ...(name === undefined ? {} : { name }),
    ...(locale === undefined ? {} : { locale: tag(locale) }),
    ...(status === undefined ? {} : { status }),
  };
}

/** The address as it is kept; the user's own, however an earlier release wrote it, is no change. */
function settled(user: User, email: string): string {
  return addressForms(email).includes(user.email) ? user.email : keptAddress(email);
}

function invalidState(detail: string, { status }: User): Problem {
  return new Problem('invalid_state', { detail, members: { state: status } });
}

function tag(locale: string | null | undefined): string | null {
  return locale === null || locale === undefined ? null : (canonicalLocale(locale) ?? locale);
}
