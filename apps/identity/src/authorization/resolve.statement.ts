import type { StoredSettings } from '../vocabulary/organizations/organization-settings.js';
import { permissionsOf } from '../roles/role-grants.js';
import { ANCESTORS, type AncestorRow } from '../vocabulary/organizations/effective-limits.js';
import type { NamedStatement } from './registry.pool.js';

/**
 * A key → what it may do, read at one instant: rights and epoch are of the same snapshot, which is what the caches'
 * comparison of epochs relies on. Expired keys are returned, marked; revoked ones are not. Permissions come as JSON,
 * which V8 reads itself: of an owner's, the driver's own reading of arrays would be the dearest step of the answer.
 */
const KEYS = `
SELECT k.id, k.organization_id, o.status, o.settings, o.locale, o.timezone, ${ANCESTORS} AS ancestors, e.epoch::text AS epoch,
       k.expires_at <= statement_timestamp() AS expired,
       floor(extract(epoch FROM k.expires_at - statement_timestamp()) * 1000)::float8 AS expires_in_ms,
       to_json(CASE WHEN r.deleted_at IS NOT NULL THEN '{}'
            WHEN r.key IS NOT NULL THEN ARRAY(
              SELECT permission FROM built_in_permissions b WHERE b.key = r.key AND b.kind = r.kind ORDER BY permission)
            ELSE ARRAY(
              SELECT permission FROM role_permissions p
               WHERE p.organization_id = k.organization_id AND p.role_id = k.role_id AND p.removed_at IS NULL
               ORDER BY permission)
       END) AS permissions
  FROM api_keys k
  JOIN organizations o ON o.organization_id = k.organization_id
  JOIN organization_epochs e ON e.organization_id = k.organization_id
  JOIN roles r ON r.organization_id = k.organization_id AND r.id = k.role_id
 WHERE k.revoked_at IS NULL AND o.deleted_at IS NULL`;

/** By the key's SHA-256, `$1`. */
export const RESOLVE_API_KEY: NamedStatement = {
  name: 'resolve_api_key',
  text: `${KEYS} AND k.key_hash = $1`,
};

/** By organization `$1` and the key's id `$2`. */
export const RESOLVE_API_KEY_BY_ID: NamedStatement = {
  name: 'resolve_api_key_by_id',
  text: `${KEYS} AND k.organization_id = $1 AND k.id = $2`,
};

/**
 * By organization `$1` and the id `$2` of a key: the newest that it was rotated to and that is still good, which has its
 * role. It goes on in the name of the one before.
 */
export const RESOLVE_MAKING_KEY: NamedStatement = {
  name: 'resolve_making_key',
  text: `
WITH RECURSIVE line AS (
  SELECT id FROM api_keys WHERE organization_id = $1 AND id = $2
   UNION
  SELECT k.id FROM api_keys k JOIN line ON k.organization_id = $1 AND k.rotated_from_id = line.id)
${KEYS} AND k.organization_id = $1 AND k.id IN (SELECT id FROM line)
   AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp())
 ORDER BY k.created_at DESC, k.id DESC LIMIT 1`,
};

/** An organization by its id, `$1`: its settings and epoch of the same snapshot, and no permission. */
export const RESOLVE_ORGANIZATION: NamedStatement = {
  name: 'resolve_organization',
  text: `
SELECT o.id, o.organization_id, o.status, o.settings, o.locale, o.timezone, ${ANCESTORS} AS ancestors, e.epoch::text AS epoch,
       false AS expired, NULL::float8 AS expires_in_ms, '[]'::json AS permissions
  FROM organizations o
  JOIN organization_epochs e ON e.organization_id = o.organization_id
 WHERE o.organization_id = $1 AND o.deleted_at IS NULL`,
};

/** User `$2` as a member of organization `$1`, whether or not signed in, while user and membership stand. */
export const RESOLVE_MEMBER: NamedStatement = {
  name: 'resolve_member',
  text: `
SELECT u.id, true AS is_user, m.organization_id, o.status, o.settings, o.locale, o.timezone,
       ${ANCESTORS} AS ancestors, e.epoch::text AS epoch,
       false AS expired, NULL::float8 AS expires_in_ms, ${permissionsOf('m')} AS permissions
  FROM memberships m
  JOIN users u ON u.id = m.user_id AND u.status = 'active' AND u.deleted_at IS NULL
  JOIN organizations o ON o.organization_id = m.organization_id AND o.deleted_at IS NULL
  JOIN organization_epochs e ON e.organization_id = m.organization_id
 WHERE m.organization_id = $1 AND m.user_id = $2`,
};

/**
 * Session `s` is of no OAuth client, or of one that is as it was when the session began and serves it: one of an
 * organization above does so while that organization is active.
 */
const OF_STANDING_CLIENT = `(s.client_id IS NULL OR EXISTS (
     SELECT FROM oauth_clients c
       JOIN organizations co ON co.organization_id = c.organization_id
      WHERE c.id = s.client_id AND c.generation = s.client_generation AND c.deleted_at IS NULL
        AND (c.organization_id = s.organization_id
             OR c.organizations = 'tree' AND co.status = 'active' AND co.deleted_at IS NULL)))`;

/**
 * A session `$2` of user `$3` in organization `$1`, while user and membership stand: the permissions of all roles
 * assigned. Where the organization's policy asks for a second factor, a session without one does nothing but that.
 */
export const RESOLVE_SESSION: NamedStatement = {
  name: 'resolve_session',
  text: `
SELECT s.user_id AS id, s.id AS session_id, s.organization_id, o.status, o.settings, o.locale, o.timezone, ${ANCESTORS} AS ancestors,
       e.epoch::text AS epoch,
       least(s.expires_at, s.idle_expires_at) <= statement_timestamp() AS expired,
       floor(extract(epoch FROM least(s.expires_at, s.idle_expires_at) - statement_timestamp()) * 1000)::float8
         AS expires_in_ms,
       coalesce(o.settings ->> 'mfa_policy', 'optional') = 'required' AND NOT 'mfa' = ANY (s.amr) AS lacks_mfa,
       s.api_scopes, ${permissionsOf('m')} AS permissions
  FROM sessions s
  JOIN users u ON u.id = s.user_id AND u.status = 'active' AND u.deleted_at IS NULL
  JOIN memberships m ON m.organization_id = s.organization_id AND m.user_id = s.user_id
  JOIN organizations o ON o.organization_id = s.organization_id AND o.deleted_at IS NULL
  JOIN organization_epochs e ON e.organization_id = s.organization_id
 WHERE s.organization_id = $1 AND s.id = $2 AND s.user_id = $3 AND s.ended_at IS NULL
   AND ${OF_STANDING_CLIENT}`,
};

/**
 * An impersonation `$2` as user `$3` in organization `$1`, while it, the session it was begun in, both users and both
 * memberships stand. That session has a second factor: none is begun in another, and a session never loses one.
 */
export const RESOLVE_IMPERSONATION: NamedStatement = {
  name: 'resolve_impersonation',
  text: `
SELECT i.user_id AS id, i.id AS session_id, i.actor_id AS impersonator_id, i.organization_id, o.status, o.settings,
       o.locale, o.timezone, ${ANCESTORS} AS ancestors, e.epoch::text AS epoch,
       least(i.expires_at, s.expires_at, s.idle_expires_at) <= statement_timestamp() AS expired,
       floor(extract(epoch FROM least(i.expires_at, s.expires_at, s.idle_expires_at) - statement_timestamp()) * 1000)::float8
         AS expires_in_ms,
       s.api_scopes, ${permissionsOf('m')} AS permissions, ${permissionsOf('am')} AS impersonator_permissions
  FROM impersonations i
  JOIN sessions s ON s.organization_id = i.organization_id AND s.id = i.actor_session_id AND s.user_id = i.actor_id
   AND s.ended_at IS NULL
  JOIN users u ON u.id = i.user_id AND u.status = 'active' AND u.deleted_at IS NULL
  JOIN users actor ON actor.id = i.actor_id AND actor.status = 'active' AND actor.deleted_at IS NULL
  JOIN memberships m ON m.organization_id = i.organization_id AND m.user_id = i.user_id
  JOIN memberships am ON am.organization_id = i.organization_id AND am.user_id = i.actor_id
  JOIN organizations o ON o.organization_id = i.organization_id AND o.deleted_at IS NULL
  JOIN organization_epochs e ON e.organization_id = i.organization_id
 WHERE i.organization_id = $1 AND i.id = $2 AND i.user_id = $3 AND i.ended_at IS NULL
   AND ${OF_STANDING_CLIENT}`,
};

/** An OAuth client `$2` of organization `$1` as a principal: what its role permits, while it may ask for tokens of its own. */
const CLIENTS = `
SELECT c.id, true AS is_client, c.organization_id, o.status, o.settings, o.locale, o.timezone, ${ANCESTORS} AS ancestors,
       e.epoch::text AS epoch, false AS expired, NULL::float8 AS expires_in_ms,
       to_json(CASE WHEN r.deleted_at IS NOT NULL THEN '{}'
            WHEN r.key IS NOT NULL THEN ARRAY(
              SELECT permission FROM built_in_permissions b WHERE b.key = r.key AND b.kind = r.kind ORDER BY permission)
            ELSE ARRAY(
              SELECT permission FROM role_permissions p
               WHERE p.organization_id = c.organization_id AND p.role_id = c.role_id AND p.removed_at IS NULL
               ORDER BY permission)
       END) AS permissions
  FROM oauth_clients c
  JOIN organizations o ON o.organization_id = c.organization_id AND o.deleted_at IS NULL
  JOIN organization_epochs e ON e.organization_id = c.organization_id
  JOIN roles r ON r.organization_id = c.organization_id AND r.id = c.role_id
 WHERE c.organization_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
   AND 'client_credentials' = ANY (c.grant_types)`;

/** By the generation `$3` that its token was issued in, too. */
export const RESOLVE_CLIENT: NamedStatement = {
  name: 'resolve_client',
  text: `${CLIENTS} AND c.generation = $3`,
};

/** Whatever secret it has by now. */
export const RESOLVE_MAKING_CLIENT: NamedStatement = { name: 'resolve_making_client', text: CLIENTS };

/** The row of all of them. */
export interface ResolvedKeyRow {
  id: string;
  organization_id: string;
  status: 'active' | 'suspended';
  settings: StoredSettings;
  /** Those above, the root first; null of the root. */
  ancestors: AncestorRow[] | null;
  locale: string;
  timezone: string;
  epoch: string;
  /** Null without an end. */
  expired: boolean | null;
  expires_in_ms: number | null;
  permissions: string[];
  /** A user without a session. */
  is_user?: boolean;
  is_client?: boolean;
  /** Of a user. */
  session_id?: string;
  lacks_mfa?: boolean;
  /** What its client may use of them; null: all. Of an impersonation, those of the session that it was begun in. */
  api_scopes?: string[] | null;
  /** Who acts as the user, and what they may themselves. */
  impersonator_id?: string;
  impersonator_permissions?: string[];
}
