import type { StoredSettings } from '../organizations/organization-settings.js';
import type { NamedStatement } from './registry.pool.js';

/**
 * A key's SHA-256 → what it may do, read at one instant: rights and epoch are of the same snapshot, which is what the
 * caches' comparison of epochs relies on. `$1` is the hash. Expired keys are returned, marked; revoked ones are not.
 */
export const RESOLVE_API_KEY: NamedStatement = {
  name: 'resolve_api_key',
  text: `
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
 WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND o.deleted_at IS NULL`,
};

/** The row of {@link RESOLVE_API_KEY}. */
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
