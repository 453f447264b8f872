import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Audit, systemActor, type AuditContext } from '@customer-platform/audit';
import { hashApiKey, isWellFormedApiKey } from '@customer-platform/authorization';
import { CommandRefusal, EXIT } from '@customer-platform/cli';
import { Database, isUuid, type WorkerTransaction } from '@customer-platform/database';
import { FailureAllowance } from '@customer-platform/http';
import { ApiKeyIssuing, type IssuedApiKey } from '../api-keys/api-key.issuing.js';
import { FactorRemoval, type RemovedFactors } from '../mfa/factor-removal.js';
import { takeTurns } from '../mfa/mfa-attempts.js';
import type { RateLimits } from '../vocabulary/organizations/organization-settings.js';
import { ConsoleClient, type RegisteredConsole } from '../oauth-clients/console-client.js';
import { EndingsInPieces, type Ending, type PieceEnded } from '../sessions/endings-in-pieces.js';
import {
  OrganizationFounding,
  type FoundedOrganization,
  type NewOrganization,
} from '../organizations/organization.founding.js';
import { SessionEndings } from '../sessions/session-endings.js';
import { addressForms } from '../vocabulary/is-email-address.js';

/** Which keys to issue with an organization: a built-in machine role each. */
export type KeyPurpose = 'ingestion' | 'administrator';

const PURPOSES: Record<KeyPurpose, { role: 'ingest' | 'owner'; name: string }> = {
  ingestion: { role: 'ingest', name: 'Ingestion (operator)' },
  administrator: { role: 'owner', name: 'Administrator (operator)' },
};

const OPEN = { where: 's.ended_at IS NULL', reason: `'revoked'`, byTime: false } as const;
const ALL_SESSIONS: Ending = { table: 'sessions', ...OPEN };
const ALL_IMPERSONATIONS: Ending = { table: 'impersonations', ...OPEN };
/** A command is given up by being killed; what it has ended stays ended. */
const TO_THE_END = {
  stopping: false,
  allowance: new FailureAllowance(Infinity),
  progressed: (): void => undefined,
};

/** An organization with the keys issued for it; the keys are shown once. */
export interface EquippedOrganization {
  organization: FoundedOrganization;
  created: boolean;
  keys: Partial<Record<KeyPurpose, IssuedApiKey>>;
}

/** The root as it was founded. */
export interface EquippedRoot extends EquippedOrganization {
  console?: RegisteredConsole;
}

/** What `createOrganization` is told. */
export interface CreateOrganization extends Omit<NewOrganization, 'parentId' | 'settings'> {
  rateLimits?: RateLimits;
  /** Slug of the organization above; the root unless given. */
  parentSlug?: string;
  issue: readonly KeyPurpose[];
  /** If the slug is taken, equip that organization anew instead of failing: its former operator's keys end. */
  reissue: boolean;
}

/**
 * What an operator does at the database, with nobody's permission: found the root, found organizations, issue and end
 * keys. Everything is audited with the actor `system`.
 */
@Injectable()
export class Operator {
  constructor(
    private readonly database: Database,
    private readonly founding: OrganizationFounding,
    private readonly keys: ApiKeyIssuing,
    private readonly console: ConsoleClient,
    private readonly factors: FactorRemoval,
    private readonly sessions: SessionEndings,
    private readonly endings: EndingsInPieces,
    private readonly audit: Audit,
  ) {}

  /**
   * Founds the root organization with one owner key, and the Console's client where it is said where the Console is.
   * Two in parallel make one root.
   * @throws CommandRefusal where a root exists; nothing is changed then
   */
  async bootstrap(root: NewOrganization, consoleUrl?: string): Promise<EquippedRoot> {
    return this.act('bootstrap', async (tx, actor) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('bootstrap', 0))`);
      if (await findRoot(tx)) {
        throw new CommandRefusal(
          'The platform is bootstrapped already: a root organization exists, and nothing was changed. ' +
            'Use "platform organizations recover <slug>" to issue a new owner key.',
          EXIT.exists,
        );
      }
      const organization = await this.founding.found(tx, root, actor);
      const equipped = await this.equip(tx, actor(organization.id), organization, true, ['administrator']);
      if (consoleUrl === undefined) return equipped;
      return { ...equipped, console: await this.console.register(tx, actor(organization.id), consoleUrl) };
    });
  }

  /**
   * The Console's client in the root organization, with the addresses of a Console that is there: made where it is
   * missing, brought back where it was deleted. Repeatable.
   * @throws CommandRefusal where there is no root yet
   */
  async registerConsole(url: string): Promise<RegisteredConsole> {
    return this.act('console', async (tx, actor) => {
      const { id } = await rootOf(tx);
      await tx.useOrganization(id);
      return this.console.register(tx, actor(id), url);
    });
  }

  /** A new owner key for an organization whose keys are lost. The former keys stay; revoke them by their own ids. */
  async recover(slug: string): Promise<EquippedOrganization> {
    return this.act('recover', async (tx, actor) => {
      const organization = await organizationBySlug(tx, slug);
      return this.equip(tx, actor(organization.id), organization, false, ['administrator']);
    });
  }

  /** Founds an organization below another and issues keys for it. */
  async createOrganization(wish: CreateOrganization): Promise<EquippedOrganization> {
    return this.act('create-organization', async (tx, actor) => {
      // Two commands for one slug take turns, or the second would fail where it was told to reissue.
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`organization:${wish.slug}`]);
      const existing = wish.reissue ? await findOrganization(tx, wish.slug) : undefined;
      if (existing) {
        await this.endKeys(tx, actor(existing.id), wish.issue);
        if (wish.rateLimits) await this.founding.limit(tx, actor(existing.id), wish.rateLimits);
        return this.equip(tx, actor(existing.id), existing, false, wish.issue);
      }
      const parent = wish.parentSlug ? await organizationBySlug(tx, wish.parentSlug) : await rootOf(tx);
      const { rateLimits, ...organizationWish } = wish;
      const settings = rateLimits ? { settings: { rate_limits: rateLimits } } : {};
      const organization = await this.founding.found(
        tx,
        { ...organizationWish, ...settings, parentId: parent.id },
        () => actor(parent.id),
      );
      return this.equip(tx, actor(organization.id), organization, true, wish.issue);
    });
  }

  /**
   * Ends a key, named by its id or by itself. Returns its id; a key that has ended already stays as it is.
   * @throws CommandRefusal if there is no such key
   */
  async revokeKey(idOrKey: string): Promise<{ id: string; revoked: boolean }> {
    return this.act('revoke-key', async (tx, actor) => {
      const key = await findKey(tx, idOrKey);
      await tx.useOrganization(key.organization_id);
      return { id: key.id, revoked: await this.keys.revoke(tx, actor(key.organization_id), key.id) };
    });
  }

  /**
   * Takes all second factors and recovery codes of a user away and ends the sessions, in all organizations.
   * @throws CommandRefusal if nobody has the address
   */
  async resetFactors(email: string): Promise<RemovedFactors & { readonly userId: string }> {
    return this.act('reset-factors', async (tx, actor) => {
      const { id, organization_id: home } = await findUser(tx, email);
      await takeTurns(tx, id);
      const context = actor(home);
      const removed = await this.factors.removeAll(tx, context, id);
      await this.sessions.endAll(tx, context, { userId: id }, 'mfa_changed');
      await tx.useOrganization(home);
      await this.audit.record(tx, context, {
        action: 'identity.users.update',
        resource: { type: 'users', id },
        changedFields: ['reset_mfa'],
      });
      return { userId: id, ...removed };
    });
  }

  /**
   * Ends every session and every impersonation, of all organizations, in transactions of 500. Repeatable: what has ended
   * stays as it is. One that fails keeps no other. @returns how many of both it has ended @throws what failed first
   */
  async endAllSessions(): Promise<number> {
    const record: PieceEnded = async (tx, context) => {
      await tx.useOrganization(context.organizationId);
      await this.audit.record(tx, context, {
        action: 'identity.sessions.revoke',
        resource: { type: 'organizations', id: context.organizationId },
        changedFields: ['status'],
      });
    };
    const failures: unknown[] = [];
    let ended = 0;
    for (const ending of [ALL_SESSIONS, ALL_IMPERSONATIONS]) {
      try {
        ended += await this.endings.endAll(ending, 'end-all-sessions', TO_THE_END, record);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return ended;
  }

  private async equip(
    tx: WorkerTransaction,
    context: AuditContext,
    organization: FoundedOrganization,
    created: boolean,
    purposes: readonly KeyPurpose[],
  ): Promise<EquippedOrganization> {
    await tx.useOrganization(organization.id);
    const keys: EquippedOrganization['keys'] = {};
    for (const purpose of purposes) {
      const { role, name } = PURPOSES[purpose];
      const [row] = await tx.query<{ id: string }>(
        `SELECT id FROM roles WHERE organization_id = $1 AND key = $2 AND kind = 'machine'`,
        [organization.id, role],
      );
      if (!row) throw new CommandRefusal(`${organization.slug} has no built-in role ${role}.`);
      keys[purpose] = await this.keys.issue(tx, context, { name, roleId: row.id });
    }
    return { organization, created, keys };
  }

  /** Ends the operator's former keys of these purposes. */
  private async endKeys(
    tx: WorkerTransaction,
    context: AuditContext,
    purposes: readonly KeyPurpose[],
  ): Promise<void> {
    await tx.useOrganization(context.organizationId);
    const former = await tx.query<{ id: string }>(
      `SELECT id FROM api_keys WHERE organization_id = $1 AND name = ANY ($2::text[]) AND revoked_at IS NULL`,
      [context.organizationId, purposes.map((purpose) => PURPOSES[purpose].name)],
    );
    for (const { id } of former) await this.keys.revoke(tx, context, id);
  }

  private act<T>(
    command: string,
    work: (tx: WorkerTransaction, actor: (organizationId: string) => AuditContext) => Promise<T>,
  ): Promise<T> {
    const correlationId = randomUUID();
    const actor = (organizationId: string): AuditContext =>
      systemActor(organizationId, correlationId, command);
    return this.database.acrossOrganizations((tx) => work(tx, actor));
  }
}

async function findOrganization(
  tx: WorkerTransaction,
  slug: string,
): Promise<FoundedOrganization | undefined> {
  const [row] = await tx.query<FoundedOrganization>(
    `SELECT id, slug, name FROM organizations WHERE slug = $1 AND deleted_at IS NULL`,
    [slug],
  );
  return row;
}

async function organizationBySlug(tx: WorkerTransaction, slug: string): Promise<FoundedOrganization> {
  const found = await findOrganization(tx, slug);
  if (!found) throw new CommandRefusal(`No active organization has the slug ${slug}.`);
  return found;
}

async function findRoot(tx: WorkerTransaction): Promise<FoundedOrganization | undefined> {
  const [root] = await tx.query<FoundedOrganization>(
    `SELECT id, slug, name FROM organizations WHERE parent_id IS NULL`,
  );
  return root;
}

async function rootOf(tx: WorkerTransaction): Promise<FoundedOrganization> {
  const root = await findRoot(tx);
  if (!root)
    throw new CommandRefusal(
      'There is no root organization yet: run "platform organizations bootstrap" first.',
    );
  return root;
}

async function findUser(
  tx: WorkerTransaction,
  email: string,
): Promise<{ id: string; organization_id: string }> {
  const [row] = await tx.query<{ id: string; organization_id: string }>(
    `SELECT id, organization_id FROM users WHERE lower(email) = ANY ($1::text[]) AND deleted_at IS NULL
      ORDER BY array_position($1::text[], lower(email)) LIMIT 1`,
    [addressForms(email)],
  );
  if (!row) throw new CommandRefusal('Nobody has that address.');
  return row;
}

async function findKey(
  tx: WorkerTransaction,
  idOrKey: string,
): Promise<{ id: string; organization_id: string }> {
  const byKey = isWellFormedApiKey(idOrKey);
  if (!byKey && !isUuid(idOrKey)) throw new CommandRefusal('Give the id of a key, or the key itself.');
  const [row] = await tx.query<{ id: string; organization_id: string }>(
    `SELECT id, organization_id FROM api_keys WHERE ${byKey ? 'key_hash' : 'id'} = $1`,
    [byKey ? Buffer.from(hashApiKey(idOrKey), 'hex') : idOrKey],
  );
  if (!row) throw new CommandRefusal('There is no such key.');
  return row;
}
