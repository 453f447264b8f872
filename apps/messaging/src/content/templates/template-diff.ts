import type { Transaction } from '@customer-platform/database';
import type { ComparedText } from '../../vocabulary/rendering/render-job.js';

/** Characters of both sides that are read; the field of which there is more is only said to have changed. */
const MOST_READ = 4 * 1024 * 1024;

/**
 * The fields that differ between two versions, in the database: a version holds up to fifty languages, and this process
 * is to hold no more of them than is compared. Short ones first, as far as there is room.
 */
const CHANGES = `
  WITH side AS (
    SELECT version, default_locale, locales, variables, strict, layout FROM template_versions
     WHERE organization_id = $1 AND template_id = $2 AND version IN ($3, $4)
  ), used AS (
    SELECT u.version, t.name, u.used_version, v.locales FROM template_uses u
      JOIN templates t ON t.organization_id = u.organization_id AND t.id = u.used_id
      JOIN template_versions v ON v.organization_id = u.organization_id AND v.template_id = u.used_id
       AND v.version = u.used_version
     WHERE u.organization_id = $1 AND u.template_id = $2 AND u.version IN ($3, $4)
  ), field AS (
    SELECT version, ARRAY['locales', locale.key, part.key] AS path, part.value
      FROM side, jsonb_each(locales) AS locale, jsonb_each(locale.value) AS part
    UNION ALL SELECT version, ARRAY['variables', name], value FROM side, jsonb_each(variables) AS of(name, value)
    UNION ALL SELECT version, ARRAY['default_locale'], to_jsonb(default_locale) FROM side
    UNION ALL SELECT version, ARRAY['strict'], to_jsonb(strict) FROM side
    UNION ALL SELECT version, ARRAY['layout'], to_jsonb(layout) FROM side WHERE layout IS NOT NULL
    UNION ALL SELECT version, ARRAY['uses', name, 'version'], to_jsonb(used_version) FROM used
    UNION ALL SELECT version, ARRAY['uses', name, 'locales', locale.key, part.key], part.value
      FROM used, jsonb_each(locales) AS locale, jsonb_each(locale.value) AS part
  ), change AS (
    SELECT path, before.value AS before, after.value AS after,
           coalesce(length(before.value::text), 0) + coalesce(length(after.value::text), 0) AS size
      FROM (SELECT path, value FROM field WHERE version = $3) AS before
      FULL JOIN (SELECT path, value FROM field WHERE version = $4) AS after USING (path)
     WHERE before.value IS DISTINCT FROM after.value
  ), measured AS (
    SELECT *, sum(size) OVER (ORDER BY size, path) <= $5 AS fits FROM change
  )
  SELECT path, fits, before IS NOT NULL AS was, after IS NOT NULL AS is,
         CASE WHEN fits THEN before END AS before, CASE WHEN fits THEN after END AS after
    FROM measured`;

interface Row {
  path: string[];
  fits: boolean;
  was: boolean;
  is: boolean;
  before: unknown;
  after: unknown;
}

/** A field that is not as it was. */
interface FieldChange {
  /** A JSON pointer. */
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Undefined: too long to be compared. */
  readonly texts: ComparedText | undefined;
}

/** The fields that differ between two versions of a template of the transaction's organization, by pointer. */
export async function changesBetween(
  tx: Transaction,
  templateId: string,
  from: number,
  to: number,
): Promise<FieldChange[]> {
  const rows = await tx.query<Row>(CHANGES, [tx.organizationId, templateId, from, to, MOST_READ]);
  return rows.map(toChange).sort((one, other) => (one.name < other.name ? -1 : 1));
}

function toChange({ path, fits, was, is, before, after }: Row): FieldChange {
  const name = path.map((step) => `/${escaped(step)}`).join('');
  const kind = !was ? 'added' : !is ? 'removed' : 'changed';
  const texts = { name, from: was ? textOf(before) : '', to: is ? textOf(after) : '' };
  return { name, kind, texts: fits ? texts : undefined };
}

/** What is no text as JSON, one value a line. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** As a JSON pointer says it (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
