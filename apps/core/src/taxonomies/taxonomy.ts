import { derivedId } from '../vocabulary/events/event-id.js';
import type { EventSchema } from './schemas/event-schema.js';

/** What a taxonomy does to events that break a schema: nothing, a warning on the stored event, or a refusal. */
export const MODES = ['off', 'warn', 'strict'] as const;
export type Mode = (typeof MODES)[number];

/** An event as a taxonomy describes it. */
export interface DescribedEvent {
  readonly name: string;
  /** JSON Schema 2020-12 of its properties. */
  readonly schema: EventSchema;
  /** Properties that hold it. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** One version of a taxonomy. A version that was shipped never changes: what is to be otherwise is another version. */
export interface Taxonomy {
  readonly slug: string;
  readonly version: string;
  /** When it was shipped: ISO 8601, UTC. */
  readonly shippedAt: string;
  readonly events: readonly DescribedEvent[];
}

/**
 * The id by which an organization knows a version. Each has its own: what one organization calls by its id tells nothing
 * to another, as of any row.
 */
export function taxonomyIdOf(
  organizationId: string,
  { slug, version }: Pick<Taxonomy, 'slug' | 'version'>,
): string {
  return derivedId(`taxonomy\n${organizationId}\n${slug}\n${version}`);
}
