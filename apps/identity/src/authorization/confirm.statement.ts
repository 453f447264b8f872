import type { NamedStatement } from './registry.pool.js';

/**
 * For each pair of hash `$1` and instant `$2` (and permission `$3`, or null) whether the key was valid then: issued,
 * neither revoked nor ended, its organization neither deleted nor suspended, its role not deleted and holding the
 * permission, whatever has been restored since. Ends are exclusive: what was accepted at the very instant of the
 * revocation came after it.
 */
export const CONFIRM_ACCEPTANCES: NamedStatement = {
  name: 'confirm_acceptances',
  text: `
SELECT EXISTS (
    SELECT FROM api_keys k
      JOIN organizations o ON o.organization_id = k.organization_id
      JOIN roles r ON r.organization_id = k.organization_id AND r.id = k.role_id
     WHERE k.key_hash = asked.key_hash
       AND k.created_at <= asked.at
       AND (k.revoked_at IS NULL OR asked.at < k.revoked_at)
       AND (k.expires_at IS NULL OR asked.at < k.expires_at)
       AND (o.deleted_at IS NULL OR asked.at < o.deleted_at)
       AND (o.suspended_at IS NULL OR asked.at < o.suspended_at
            OR (o.status = 'active' AND asked.at >= o.reactivated_at))
       AND (r.deleted_at IS NULL OR asked.at < r.deleted_at)
       AND NOT EXISTS (SELECT FROM interruptions i
                        WHERE i.organization_id = k.organization_id
                          AND (i.role_id IS NULL OR i.role_id = k.role_id)
                          AND asked.at >= i.began_at AND asked.at < i.ended_at)
       AND (asked.permission IS NULL
            OR EXISTS (SELECT FROM built_in_permissions b
                        WHERE b.key = r.key AND b.kind = r.kind AND b.permission = asked.permission)
            OR EXISTS (SELECT FROM role_permissions p
                        WHERE p.organization_id = k.organization_id AND p.role_id = k.role_id
                          AND p.permission = asked.permission AND p.granted_at <= asked.at
                          AND (p.removed_at IS NULL OR asked.at < p.removed_at)))
  ) AS valid
  FROM unnest($1::bytea[], $2::timestamptz[], $3::text[]) WITH ORDINALITY
    AS asked (key_hash, at, permission, place)
 ORDER BY place`,
};

/** Uses as they were reported: organization `$1`, key `$2`, instant `$3`. An earlier one than known changes nothing. */
export const NOTE_KEY_USES: NamedStatement = {
  name: 'note_key_uses',
  text: `
UPDATE api_keys k SET last_used_at = used.at
  FROM (SELECT organization_id, id, least(max(at), now()) AS at
          FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS row (organization_id, id, at)
         GROUP BY organization_id, id ORDER BY organization_id, id) AS used
 WHERE k.organization_id = used.organization_id AND k.id = used.id
   AND (k.last_used_at IS NULL OR k.last_used_at < used.at)`,
};
