import type { StoredSettings } from '../organizations/organization-settings.js';
import type { NamedStatement } from './registry.pool.js';

/**
 * A key → what it may do, read at one instant: rights and epoch are of the same snapshot, which is what the caches'
 * comparison of epochs relies on. Expired keys are returned, marked; revoked ones are not.
 */
const KEYS = `
SELECT k.id, k.organization_id, o.status, o.settings, o.locale, o.timezone, e.epoch::text AS epoch,
       k.expires_at <= statement_timestamp() AS expired,
       floor(extract(epoch FROM k.expires_at - statement_timestamp()) * 1000)::float8 AS expires_in_ms,
       CASE WHEN r.deleted_at IS NOT NULL THEN '{}'
            WHEN r.key IS NOT NULL THEN ARRAY(
              SELECT permission FROM built_in_permissions b WHERE b.key = r.key AND b.kind = r.kind ORDER BY permission)
            ELSE ARRAY(
              SELECT permission FROM role_permissions p
               WHERE p.organization_id = k.organization_id AND p.role_id = k.role_id AND p.removed_at IS NULL
               ORDER BY permission)
       END AS permissions
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

/** An organization by its id, `$1`: its settings and epoch of the same snapshot, and no permission. */
export const RESOLVE_ORGANIZATION: NamedStatement = {
  name: 'resolve_organization',
  text: `
SELECT o.id, o.organization_id, o.status, o.settings, o.locale, o.timezone, e.epoch::text AS epoch,
       false AS expired, NULL::float8 AS expires_in_ms, '{}'::text[] AS permissions
  FROM organizations o
  JOIN organization_epochs e ON e.organization_id = o.organization_id
 WHERE o.organization_id = $1 AND o.deleted_at IS NULL`,
};

/** The row of all three. */
export interface ResolvedKeyRow {
  id: string;
  organization_id: string;
  status: 'active' | 'suspended';
  settings: StoredSettings;
  locale: string;
  timezone: string;
  epoch: string;
  /** Null without an end. */
  expired: boolean | null;
  expires_in_ms: number | null;
  permissions: string[];
}
