import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Database, sameJson, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { pointerToken, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { FieldErrors, Problem } from '@customer-platform/problem-json';
import { StoredEvents } from './dry-run/stored-events.js';
import { Enforcements } from './enforcing/enforcements.js';
import { TaxonomyCatalog } from './taxonomy-catalog.js';
import {
  type InstalledDto,
  type InstalledTaxonomyDto,
  type InstallTaxonomyDto,
  type TaxonomyDto,
  pageOfTaxonomies,
} from './taxonomy.dto.js';
import { MODES, taxonomyIdOf, type Mode, type Taxonomy } from './taxonomy.js';

const COLUMNS = 'slug, version, mode, overrides, updated_at';
const ALL = `SELECT ${COLUMNS} FROM taxonomy_installations WHERE organization_id = $1`;
const OF_SLUG = `${ALL} AND slug = $2`;

/** Whoever installs for the same organization at the same time waits here, so that each knows what was before. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('taxonomies ' || $1, 0))`;

/** The time is the database's, and later than that of any row before: instances look for what is new by it. */
const PUT = `
  INSERT INTO taxonomy_installations AS installation (organization_id, slug, version, mode, overrides)
  VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (organization_id, slug) DO UPDATE
    SET version = excluded.version, mode = excluded.mode,
        overrides = excluded.overrides,
        updated_at = greatest(clock_timestamp(), installation.updated_at + interval '1 ms')
  RETURNING ${COLUMNS}`;

interface InstallationRow {
  slug: string;
  version: string;
  mode: Mode;
  overrides: Record<string, Mode>;
  updated_at: Date;
}

/** What is to be installed. */
type Wish = Pick<InstallationRow, 'mode' | 'overrides'>;

/** Event taxonomies (core.md §8): what ships, and what an organization has installed of it. */
@Injectable()
export class TaxonomiesService {
  constructor(
    private readonly database: Database,
    private readonly catalog: TaxonomyCatalog,
    private readonly enforcements: Enforcements,
    private readonly stored: StoredEvents,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
  ) {}

  async list(context: RequestContext, query: ListQuery): Promise<Page<TaxonomyDto>> {
    const { data, page } = pageOfTaxonomies(this.catalog.newest(), query);
    const rows = await this.database.inOrganization(context, (tx) =>
      tx.query<InstallationRow>(ALL, [tx.organizationId]),
    );
    const installed = new Map(rows.map((row) => [row.slug, row]));
    const { organizationId } = context;
    return {
      data: data.map((taxonomy) => toTaxonomyDto(organizationId, taxonomy, installed.get(taxonomy.slug))),
      page,
    };
  }

  /**
   * Installs a version as it is wished for, whatever was installed of its slug before. The same again changes nothing.
   * @throws Problem `not_found`, `validation_failed`; of a dry run `rate_limited`
   */
  async install(
    context: RequestContext,
    id: string,
    { mode = 'warn', overrides = {}, dry_run: dryRun = false }: InstallTaxonomyDto,
  ): Promise<InstalledTaxonomyDto> {
    const taxonomy = this.catalog.get(context.organizationId, id);
    if (!taxonomy) throw new Problem('not_found');
    demandModes(taxonomy, overrides);
    const wish = { mode, overrides };
    return dryRun ? this.tryOut(context, taxonomy, wish) : this.put(context, taxonomy, wish);
  }

  private async tryOut(
    context: RequestContext,
    taxonomy: Taxonomy,
    wish: Wish,
  ): Promise<InstalledTaxonomyDto> {
    const before = await this.database.inOrganization(context, (tx) => installedOf(tx, taxonomy));
    const judgement = context.can('core.events.read')
      ? await this.stored.judge(context, taxonomy, wish)
      : null;
    return {
      ...toTaxonomyDto(context.organizationId, taxonomy, before),
      installed: { version: taxonomy.version, mode: wish.mode, overrides: wish.overrides },
      dry_run: true,
      changed: changedFields(taxonomy, wish, before).length > 0,
      previous: before ? toInstalledDto(before) : null,
      judgement,
    };
  }

  private put(context: RequestContext, taxonomy: Taxonomy, wish: Wish): Promise<InstalledTaxonomyDto> {
    return this.database.inOrganization(context, async (tx) => {
      await tx.query(LOCK, [tx.organizationId]);
      const before = await installedOf(tx, taxonomy);
      const fields = changedFields(taxonomy, wish, before);
      const row = fields.length === 0 ? before : await this.write(tx, context, taxonomy, { wish, fields });
      return {
        ...toTaxonomyDto(tx.organizationId, taxonomy, row),
        dry_run: false,
        changed: fields.length > 0,
        previous: before ? toInstalledDto(before) : null,
        judgement: null,
      };
    });
  }

  private async write(
    tx: Transaction,
    context: RequestContext,
    { slug, version }: Taxonomy,
    { wish: { mode, overrides }, fields }: { wish: Wish; fields: string[] },
  ): Promise<InstallationRow | undefined> {
    const id = taxonomyIdOf(tx.organizationId, { slug, version });
    const values = [tx.organizationId, slug, version, mode, JSON.stringify(overrides)];
    const [row] = await tx.query<InstallationRow>(PUT, values);
    await this.audit.record(tx, context, {
      action: 'core.taxonomies.install',
      resource: { type: 'taxonomies', id },
      changedFields: fields,
    });
    await this.outbox.append(tx, {
      type: 'core.taxonomy.installed.v1',
      organizationId: tx.organizationId,
      key: id,
      subject: `taxonomies/${id}`,
      correlationId: context.correlationId,
      data: { taxonomy_id: id, slug, version, mode },
    });
    const { organizationId } = tx;
    const all = await tx.query<InstallationRow>(ALL, [organizationId]);
    const installations = all.map((each) => ({ organizationId, ...each }));
    tx.afterCommit(() => this.enforcements.put(organizationId, installations));
    return row;
  }
}

async function installedOf(tx: Transaction, { slug }: Taxonomy): Promise<InstallationRow | undefined> {
  const [row] = await tx.query<InstallationRow>(OF_SLUG, [tx.organizationId, slug]);
  return row;
}

function demandModes({ events, slug, version }: Taxonomy, overrides: Record<string, unknown>): void {
  const errors = new FieldErrors();
  const names = new Set(events.map(({ name }) => name));
  for (const [name, mode] of Object.entries(overrides)) {
    const pointer = `/overrides/${pointerToken(name)}`;
    if (!names.has(name)) {
      const detail = `The taxonomy ${slug} ${version} lists no event of this name.`;
      errors.add({ pointer, code: 'unknown_field', detail });
    } else if (!MODES.some((known) => known === mode)) {
      errors.add({ pointer, code: 'invalid_enum', detail: `Allowed are ${MODES.join(', ')}.` });
    }
  }
  if (errors.total > 0) throw Problem.validation(errors);
}

function changedFields(
  { version }: Taxonomy,
  { mode, overrides }: Wish,
  before: InstallationRow | undefined,
): string[] {
  if (!before) return ['version', 'mode', 'overrides'];
  return [
    ...(before.version === version ? [] : ['version']),
    ...(before.mode === mode ? [] : ['mode']),
    ...(sameJson(before.overrides, overrides) ? [] : ['overrides']),
  ];
}

function toInstalledDto({ version, mode, overrides }: InstallationRow): InstalledDto {
  return { version, mode, overrides };
}

function toTaxonomyDto(
  organizationId: string,
  { slug, version, events, shippedAt }: Taxonomy,
  row: InstallationRow | undefined,
): TaxonomyDto {
  return {
    id: taxonomyIdOf(organizationId, { slug, version }),
    slug,
    version,
    events: events.map(({ name, schema, example }) => ({ name, schema, example })),
    installed: row ? toInstalledDto(row) : null,
    created_at: shippedAt,
    updated_at: row ? row.updated_at.toISOString() : shippedAt,
  };
}
