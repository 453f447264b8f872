import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { turns } from '@customer-platform/http';
import {
  Database,
  isUuid,
  WriteConflict,
  type OrganizationScope,
  type Transaction,
} from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { holdDefinitions, holdSeveral, keepDefinitions, keepIfFree } from './definition-locks.js';
import { type KnownDefinition } from './known-definition.js';

/** Fields of all definitions that are kept, of all organizations: about 60 MB. */
const MOST_FIELDS_KEPT = 100_000;
const MOST_SLUGS_KEPT = 20_000;
/** Each is a change that committed within the call: nobody changes a definition so often. */
export const DEFINITION_TURNS = 20;

const REVISION_BY_ID = `
  SELECT id, revision FROM object_definitions WHERE organization_id = $1 AND id = $2`;
const REVISION_BY_SLUG = `
  SELECT id, revision FROM object_definitions WHERE organization_id = $1 AND slug = $2 AND deleted_at IS NULL`;
/** Definitions with a field that refers to records of these. */
const REFERRING = `
  SELECT DISTINCT definition.id FROM object_definitions AS definition, jsonb_array_elements(definition.fields) AS field
   WHERE definition.organization_id = $1 AND field->>'target' = ANY($2::text[])`;
const LOAD = `
  SELECT organization_id AS "organizationId", id, slug, revision, deleted_at IS NOT NULL AS "isDeleted", fields, indexes
    FROM object_definitions WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

/**
 * Definitions as records are written and listed by them. Those used last are kept, and none is gone by before its
 * revision has been looked at in the transaction that does so.
 */
@Injectable()
export class KnownDefinitions {
  private readonly kept = new LRUCache<string, KnownDefinition>({
    maxSize: MOST_FIELDS_KEPT,
    sizeCalculation: ({ fields }) => fields.length + 1,
  });
  private readonly bySlug = new LRUCache<string, string>({ max: MOST_SLUGS_KEPT });

  constructor(private readonly database: Database) {}

  /** Most likely what the slug or the id names: `keep` or `find` tell. @throws Problem `not_found` */
  async guess(scope: OrganizationScope, named: string): Promise<KnownDefinition> {
    const { organizationId } = scope;
    const id = isUuid(named) ? named.toLowerCase() : this.bySlug.get(`${organizationId}:${named}`);
    const known = id === undefined ? undefined : this.kept.get(`${organizationId}:${id}`);
    // By its slug only an active one is named.
    if (known && (isUuid(named) || !known.isDeleted)) return known;
    const found = await this.database.inOrganization(scope, (tx) => this.find(tx, named));
    if (!found) throw new Problem('not_found');
    return found;
  }

  /** What the slug of an active definition, or the id of any, names as the transaction sees it. */
  async find(tx: Transaction, named: string): Promise<KnownDefinition | undefined> {
    const [sql, key] = isUuid(named) ? [REVISION_BY_ID, named.toLowerCase()] : [REVISION_BY_SLUG, named];
    const [row] = await tx.prepared<{ id: string; revision: number }>(sql, [tx.organizationId, key]);
    if (!row) return undefined;
    if (!isUuid(named)) this.bySlug.set(`${tx.organizationId}:${named}`, row.id);
    const known = this.kept.get(`${tx.organizationId}:${row.id}`);
    if (known?.revision === row.revision) return known;
    return (await this.load(tx, [row.id])).get(row.id);
  }

  /**
   * Keeps the definition as it is until the transaction ends.
   * @throws WriteConflict if it is not what is known of it any more
   */
  async keep(tx: Transaction, known: KnownDefinition): Promise<void> {
    await keepDefinitions(tx, [known.id]);
    const [row] = await tx.prepared<{ revision: number }>(REVISION_BY_ID, [tx.organizationId, known.id]);
    if (row?.revision === known.revision) return;
    this.forget(known);
    throw new WriteConflict('The definition has changed meanwhile');
  }

  /** Keeps several definitions as they are until the transaction ends, whatever they are; those that are gone are not among them. */
  async keepAll(tx: Transaction, ids: readonly string[]): Promise<Map<string, KnownDefinition>> {
    await keepDefinitions(tx, ids);
    return this.load(tx, ids);
  }

  /** The same of one, without waiting; undefined while somebody has it alone, or waits for that. */
  async keepIfFree(tx: Transaction, id: string): Promise<Map<string, KnownDefinition> | undefined> {
    return (await keepIfFree(tx, id)) ? this.load(tx, [id]) : undefined;
  }

  /**
   * Has nobody else write by these definitions, nor by those whose records may refer to theirs, until the transaction
   * ends; all of them. No definition changes meanwhile, so that none comes to refer to them.
   */
  async holdAll(tx: Transaction, ids: readonly string[]): Promise<Map<string, KnownDefinition>> {
    await holdDefinitions(tx);
    const referring = await tx.query<{ id: string }>(REFERRING, [tx.organizationId, ids]);
    const all = [...ids, ...referring.map(({ id }) => id)];
    await holdSeveral(tx, all);
    return this.load(tx, all);
  }

  /**
   * Runs `work` by a definition, and again each time that it went by one that has changed since: every turn is a change
   * that committed meanwhile. What a former revision refuses the present one may take.
   * @throws Problem `not_found`; `dependency_unavailable` where it does not stay the same for long enough
   */
  async by<T>(
    scope: OrganizationScope,
    named: string,
    work: (definition: KnownDefinition) => Promise<T>,
  ): Promise<T> {
    for await (const _ of turns({ most: DEFINITION_TURNS })) {
      const definition = await this.guess(scope, named);
      try {
        return await work(definition);
      } catch (error) {
        if (error instanceof WriteConflict) continue;
        if (!(error instanceof Problem) || error.status >= 500) throw error;
        const now = await this.database.inOrganization(scope, (tx) => this.find(tx, named));
        if (now?.id === definition.id && now.revision === definition.revision) throw error;
        // What names nothing, or another now, is guessed no more.
        this.forget(definition);
      }
    }
    throw neverTheSame();
  }

  private forget({ organizationId, id, slug }: KnownDefinition): void {
    this.kept.delete(`${organizationId}:${id}`);
    this.bySlug.delete(`${organizationId}:${slug}`);
  }

  private async load(tx: Transaction, ids: readonly string[]): Promise<Map<string, KnownDefinition>> {
    const rows = await tx.query<KnownDefinition>(LOAD, [tx.organizationId, [...new Set(ids)]]);
    for (const known of rows) {
      this.kept.set(`${known.organizationId}:${known.id}`, known);
      if (!known.isDeleted) this.bySlug.set(`${known.organizationId}:${known.slug}`, known.id);
    }
    return new Map(rows.map((known) => [known.id, known]));
  }
}

/** Of a definition that was another each time it was looked at. */
export function neverTheSame(): Problem {
  return new Problem('dependency_unavailable', {
    detail: 'The definition keeps changing; try again shortly.',
  });
}
