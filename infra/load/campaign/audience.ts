import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { adminUrl, connected } from '@customer-platform/kit/databases.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
import type pg from 'pg';

const ROWS_AT_ONCE = 50_000;
const BUILT_WITHIN_MS = 120_000;

/** The contact with this number of one audience. */
const CONTACT = `overlay(overlay(md5($2 || '-' || n) placing '8' from 13) placing '8' from 17)::uuid`;

const MEMBERS = `
  INSERT INTO segment_members (organization_id, id, segment_id, contact_id, entered_at, cause)
  SELECT $1, gen_random_uuid(), $3, ${CONTACT}, now() - interval '1 hour', 'attribute'
    FROM generate_series($4::int, $5::int) n`;

const CONTACTS = `
  INSERT INTO contacts (organization_id, id, version, state, external_id, email, email_canonical, first_name)
  SELECT $1, ${CONTACT}, 1, 'active', $2 || '-' || n, $2 || '-' || n || '@example.com', $2 || '-' || n || '@example.com', 'Ana'
    FROM generate_series($3::int, $4::int) n`;

/** A segment with so many members, each known to messaging, and how their addresses begin. */
export interface FilledSegment {
  readonly id: string;
  readonly prefix: string;
  /** Takes its members and their contacts away again. */
  empty(): Promise<void>;
}

/** Fills a segment past the API: making a million contacts one by one is not what is measured. */
export async function fillSegment(platform: Platform, count: number): Promise<FilledSegment> {
  const { organization_id: organizationId } = platform;
  const prefix = `audience-${randomUUID().slice(0, 8)}`;
  const id = await anEmptySegment(platform, prefix);
  const clientOf = (module: string): Promise<pg.Client> => connected(adminUrl(platform, module));
  const [core, messaging] = [await clientOf('core'), await clientOf('messaging')];
  try {
    for (let from = 0; from < count; from += ROWS_AT_ONCE) {
      const to = Math.min(from + ROWS_AT_ONCE, count) - 1;
      await core.query(MEMBERS, [organizationId, prefix, id, from, to]);
      await messaging.query(CONTACTS, [organizationId, prefix, from, to]);
    }
    await core.query('ANALYZE segment_members');
    await messaging.query('ANALYZE contacts');
  } finally {
    await Promise.all([core.end(), messaging.end()]);
  }
  const empty = async (): Promise<void> => {
    const [first, second] = [await clientOf('core'), await clientOf('messaging')];
    await first.query('DELETE FROM segment_members WHERE organization_id = $1 AND segment_id = $2', [
      organizationId,
      id,
    ]);
    await second.query('DELETE FROM contacts WHERE organization_id = $1 AND external_id LIKE $2', [
      organizationId,
      `${prefix}-%`,
    ]);
    await Promise.all([first.end(), second.end()]);
  };
  return { id, prefix, empty };
}

/** Of a rule that nobody meets. */
async function anEmptySegment(platform: Platform, name: string): Promise<string> {
  const admin = await adminOf(platform);
  const rule = { attribute: 'attributes.nobody_has_this', op: 'eq', value: name } as const;
  const { data: made } = await admin.POST('/v1/core/segments', { body: { name, rule } });
  const params = { path: { id: made.id } };
  for (const deadline = Date.now() + BUILT_WITHIN_MS; Date.now() < deadline; await pause(250)) {
    const { data: segment } = await admin.GET('/v1/core/segments/{id}', { params });
    if (segment.state === 'ready') return made.id;
  }
  throw new Error('The segment is not built after two minutes.');
}
