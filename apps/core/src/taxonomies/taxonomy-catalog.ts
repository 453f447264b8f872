import { Injectable } from '@nestjs/common';
import { compileSchema, type CompiledSchema } from './schemas/compile-schema.js';
import { BILLING_1 } from './shipped/billing.js';
import { ECOMMERCE_1 } from './shipped/ecommerce.js';
import { SAAS_1 } from './shipped/saas.js';
import { taxonomyIdOf, type DescribedEvent, type Taxonomy } from './taxonomy.js';

/** Every version that was shipped, the older ones of a slug first: organizations go on with what they installed. */
export const SHIPPED: readonly Taxonomy[] = [ECOMMERCE_1, BILLING_1, SAAS_1];

/** Compiled schemas kept at most, of all taxonomies; the one that was compiled first goes first. */
const MOST_COMPILED = 500;

/** What names a version. */
type Version = Pick<Taxonomy, 'slug' | 'version'>;

/** The taxonomies that come with the platform: the same for every organization, changed by a release only. */
@Injectable()
export class TaxonomyCatalog {
  private readonly versions: Taxonomy[] = [];
  private readonly bySlug = new Map<string, Taxonomy>();
  private readonly events = new Map<string, ReadonlyMap<string, DescribedEvent>>();
  private readonly compiled = new Map<DescribedEvent, CompiledSchema>();

  constructor() {
    for (const taxonomy of SHIPPED) this.add(taxonomy);
  }

  /** Takes a version; the last one of a slug is its newest. */
  add(taxonomy: Taxonomy): void {
    this.versions.push(taxonomy);
    this.bySlug.set(taxonomy.slug, taxonomy);
    this.events.set(nameOf(taxonomy), new Map(taxonomy.events.map((event) => [event.name, event])));
  }

  /** The newest version of each, by slug. */
  newest(): readonly Taxonomy[] {
    return [...this.bySlug.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
  }

  /** The version that the organization knows by this id. */
  get(organizationId: string, id: string): Taxonomy | undefined {
    return this.versions.find((taxonomy) => taxonomyIdOf(organizationId, taxonomy) === id);
  }

  /**
   * The compiled schema of an event, undefined where the taxonomy does not list it. Compiled when it is asked for
   * first, once for all organizations.
   */
  schemaOf(version: Version, name: string): CompiledSchema | undefined {
    const event = this.events.get(nameOf(version))?.get(name);
    if (!event) return undefined;
    return this.compiled.get(event) ?? this.compile(event);
  }

  /** Compiles one schema, of any event: the first takes several times as long as others, and no request shall wait for it. */
  prepare(): void {
    const [event] = SHIPPED[0]?.events ?? [];
    if (event) this.compile(event);
  }

  private compile(event: DescribedEvent): CompiledSchema {
    const compiled = compileSchema(event.schema);
    if (this.compiled.size >= MOST_COMPILED) {
      const [oldest] = this.compiled.keys();
      if (oldest) this.compiled.delete(oldest);
    }
    this.compiled.set(event, compiled);
    return compiled;
  }
}

function nameOf({ slug, version }: Version): string {
  return `${slug} ${version}`;
}
