import { apiKeyPrefix, hashApiKey, newApiKey } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { onConnection } from '@customer-platform/kit/databases.ts';
import type { Client } from 'pg';

const KEYS_EACH = 10;

/** Organizations below the root with their built-in roles and ten keys each: five of them ingest, five own everything. */
export async function populateWithKeys(adminUrl: string, organizations: number): Promise<string[]> {
  return onConnection(adminUrl, (client) => populate(client, organizations));
}

async function populate(client: Client, organizations: number): Promise<string[]> {
  const [root] = (await client.query<{ id: string }>('SELECT id FROM organizations')).rows;
  const keys: string[] = [];
  for (let from = 0; from < organizations; from += 500) {
    const ids = Array.from({ length: Math.min(500, organizations - from) }, () => newId());
    await client.query(
      `INSERT INTO organizations (organization_id, id, parent_id, path, name, slug, locale, timezone, created_at, updated_at)
       SELECT id, id, $2, ARRAY[$2, id], 'Bench', 'bench-' || id, 'en', 'UTC', now(), now() FROM unnest($1::uuid[]) AS id`,
      [ids, root?.id],
    );
    await client.query(
      `INSERT INTO roles (organization_id, id, name, kind, key, created_at, updated_at)
       SELECT made.id, gen_random_uuid(), role.name, role.kind, role.key, now(), now()
         FROM unnest($1::uuid[]) AS made (id), roles AS role WHERE role.organization_id = $2`,
      [ids, root?.id],
    );
    const made = ids.flatMap((id) =>
      Array.from({ length: KEYS_EACH }, (_, n) => ({ id, key: newApiKey(), n })),
    );
    await client.query(
      `INSERT INTO api_keys (organization_id, id, name, role_id, key_hash, prefix, created_at, updated_at)
       SELECT made.organization_id, gen_random_uuid(), 'Bench', role.id, decode(made.hash, 'hex'), made.prefix, now(), now()
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS made (organization_id, hash, prefix, key)
         JOIN roles AS role ON role.organization_id = made.organization_id AND role.key = made.key AND role.kind = 'machine'`,
      [
        made.map(({ id }) => id),
        made.map(({ key }) => hashApiKey(key)),
        made.map(({ key }) => apiKeyPrefix(key)),
        made.map(({ n }) => (n % 2 ? 'owner' : 'ingest')),
      ],
    );
    keys.push(...made.map(({ key }) => key));
  }
  await client.query('ANALYZE');
  return keys;
}
