import { Injectable, type OnModuleInit } from '@nestjs/common';
import { askedAtStart, Database, newId, type WorkerTransaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { PERMISSIONS } from '@customer-platform/permissions';
import { BUILT_IN_ROLES } from './built-in-roles.js';

const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('built-in permissions', 0))`;

const ADD = `
INSERT INTO built_in_permissions (key, kind, permission)
SELECT key, kind, permission FROM unnest($1::text[], $2::text[], $3::text[]) AS held (key, kind, permission)
 WHERE NOT EXISTS (
   SELECT FROM built_in_permissions b
    WHERE b.key = held.key AND b.kind = held.kind AND b.permission = held.permission)
RETURNING permission`;

/** Only what this build knows is taken away: beside a newer version of the service its permissions are left alone. */
const REMOVE = `
DELETE FROM built_in_permissions b
 WHERE b.permission = ANY ($4::text[])
   AND NOT EXISTS (
     SELECT FROM unnest($1::text[], $2::text[], $3::text[]) AS held (key, kind, permission)
      WHERE held.key = b.key AND held.kind = b.kind AND held.permission = b.permission)
RETURNING permission`;

const COUNT_STALE = `
SELECT (SELECT count(*) FROM built_in_permissions b WHERE b.permission = ANY ($4::text[]))::int AS known,
       (SELECT count(*) FROM unnest($1::text[], $2::text[], $3::text[]) AS held (key, kind, permission)
         JOIN built_in_permissions b USING (key, kind, permission))::int AS held`;

const GIVE_ROLES = `
INSERT INTO roles (organization_id, id, name, description, kind, key, created_at, updated_at)
SELECT $1, id, name, description, kind, key, now(), now()
  FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[]) AS role (id, name, description, kind, key)`;

/** Keeps what the built-in roles hold in step with the registry of the build, and gives them to organizations. */
@Injectable()
export class BuiltInPermissions implements OnModuleInit {
  constructor(private readonly database: Database) {}

  async onModuleInit(): Promise<void> {
    await askedAtStart(() => this.database.acrossOrganizations((tx) => this.follow(tx)));
  }

  /**
   * Adds and takes away what the registry says. A change raises the epoch of every organization, so it takes effect
   * within a second; without one nothing is written.
   */
  async follow(tx: WorkerTransaction): Promise<void> {
    const held = BUILT_IN_ROLES.flatMap(({ key, kind, permissions }) =>
      permissions.map((permission) => ({ key, kind, permission })),
    );
    const parameters = [
      held.map(({ key }) => key),
      held.map(({ kind }) => kind),
      held.map(({ permission }) => permission),
      PERMISSIONS,
    ];
    await tx.query(LOCK);
    const [count] = await tx.query<{ known: number; held: number }>(COUNT_STALE, parameters);
    if (count?.held === held.length && count.known === held.length) return;
    const added = await tx.query(ADD, parameters.slice(0, 3));
    const removed = await tx.query(REMOVE, parameters);
    log.info({ added: added.length, removed: removed.length }, 'The built-in roles follow the registry');
  }

  /** Gives a new organization its built-in roles. */
  async giveRoles(tx: WorkerTransaction, organizationId: string): Promise<void> {
    await tx.query(GIVE_ROLES, [
      organizationId,
      BUILT_IN_ROLES.map(() => newId()),
      BUILT_IN_ROLES.map(({ name }) => name),
      BUILT_IN_ROLES.map(({ description }) => description),
      BUILT_IN_ROLES.map(({ kind }) => kind),
      BUILT_IN_ROLES.map(({ key }) => key),
    ]);
  }
}
