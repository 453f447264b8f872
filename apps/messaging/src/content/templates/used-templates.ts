import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { PartSource } from '../../vocabulary/rendering/render-job.js';
import type { TemplateKind } from '../../vocabulary/templates/template-content.js';

/** A layout or partial, as it is published at this moment. */
export interface UsableTemplate {
  readonly id: string;
  readonly name: string;
  readonly kind: TemplateKind;
  readonly version: number;
  readonly default_locale: string;
  readonly locales: readonly string[];
}

/** Whose text stands in a version: the very bytes that the other version had. */
export interface TemplateUse {
  readonly id: string;
  readonly version: number;
}

/** A use as it is shown. */
export interface ShownUse {
  readonly template_id: string;
  readonly version: number;
  readonly used_id: string;
  readonly name: string;
  readonly kind: TemplateKind;
  readonly used_version: number;
  readonly published_version: number | null;
}

const USABLE = `
  SELECT t.id, t.name, t.kind, t.published_version AS version, v.default_locale,
         ARRAY(SELECT jsonb_object_keys(v.parts)) AS locales
    FROM templates t JOIN template_versions v ON v.organization_id = t.organization_id AND v.template_id = t.id
     AND v.version = t.published_version
   WHERE t.organization_id = $1 AND t.channel = $2 AND t.name = ANY($3::text[]) AND t.kind <> 'message'
     AND t.deleted_at IS NULL`;

/** One language of it: fifty of twenty partials would be more than a process should hold. */
const PARTS = `
  SELECT parts -> $4 AS parts FROM template_versions
   WHERE organization_id = $1 AND template_id = $2 AND version = $3`;

/** What stands within what is used, and how deep. */
const WITHIN = `
  WITH RECURSIVE within AS (
    SELECT id AS used_id, version AS used_version, 1 AS depth FROM unnest($2::uuid[], $3::int[]) AS of(id, version)
    UNION
    SELECT u.used_id, u.used_version, within.depth + 1 FROM within JOIN template_uses u
      ON u.organization_id = $1 AND u.template_id = within.used_id AND u.version = within.used_version
     WHERE within.depth <= $4
  )
  SELECT used_id AS id, max(depth)::int AS depth FROM within GROUP BY used_id`;

/** Locked, so that no purge takes one away before what uses it is there. */
const HOLD = `
  SELECT id FROM templates WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR KEY SHARE`;

const ADD = `
  INSERT INTO template_uses (organization_id, template_id, version, used_id, used_version)
  SELECT $1, $2, $3, id, version FROM unnest($4::uuid[], $5::int[]) AS of(id, version)`;

const SHOWN = `
  SELECT u.template_id, u.version, u.used_id, t.name, t.kind, u.used_version, t.published_version
    FROM template_uses u JOIN templates t ON t.organization_id = u.organization_id AND t.id = u.used_id
   WHERE u.organization_id = $1 AND (u.template_id, u.version) IN (SELECT * FROM unnest($2::uuid[], $3::int[]))
   ORDER BY t.name`;

/** Which versions of templates hold which layouts and partials. */
@Injectable()
export class UsedTemplates {
  /** The published ones of these names, by name. */
  async usable(
    tx: Transaction,
    channel: Channel,
    names: readonly string[],
  ): Promise<Map<string, UsableTemplate>> {
    const rows = await tx.query<UsableTemplate>(USABLE, [tx.organizationId, channel, names]);
    return new Map(rows.map((row) => [row.name, row]));
  }

  /** The compiled parts of one language. */
  async parts(tx: Transaction, used: UsableTemplate, locale: string): Promise<readonly PartSource[]> {
    const [row] = await tx.query<{ parts: PartSource[] | null }>(PARTS, [
      tx.organizationId,
      used.id,
      used.version,
      locale,
    ]);
    return row?.parts ?? [];
  }

  /** All that stands within these, themselves included, with the depth of the deepest; beyond `most` it is not followed. */
  async within(tx: Transaction, uses: readonly TemplateUse[], most: number): Promise<Map<string, number>> {
    if (uses.length === 0) return new Map();
    const rows = await tx.query<{ id: string; depth: number }>(WITHIN, [
      tx.organizationId,
      uses.map(({ id }) => id),
      uses.map(({ version }) => version),
      most,
    ]);
    return new Map(rows.map(({ id, depth }) => [id, depth]));
  }

  /** Writes down what a new version holds. @returns false where one of them is gone */
  async add(
    tx: Transaction,
    template: { id: string; version: number },
    uses: readonly TemplateUse[],
  ): Promise<boolean> {
    if (uses.length === 0) return true;
    const ids = uses.map(({ id }) => id);
    const held = await tx.query(HOLD, [tx.organizationId, ids]);
    if (held.length < ids.length) return false;
    await tx.query(ADD, [
      tx.organizationId,
      template.id,
      template.version,
      ids,
      uses.map(({ version }) => version),
    ]);
    return true;
  }

  /** What these versions hold, by template. */
  async of(
    tx: Transaction,
    versions: readonly { id: string; version: number }[],
  ): Promise<Map<string, ShownUse[]>> {
    if (versions.length === 0) return new Map();
    const rows = await tx.query<ShownUse>(SHOWN, [
      tx.organizationId,
      versions.map(({ id }) => id),
      versions.map(({ version }) => version),
    ]);
    return Map.groupBy(rows, (row) => row.template_id);
  }
}
