import { z } from 'zod';

/** The modules that publish domain events, each to its own topic. */
export const PUBLISHERS = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;

/** A module that publishes domain events. */
export type Publisher = (typeof PUBLISHERS)[number];

/**
 * What one version of one event promises: the shape of its `data`, the field of `data` whose value is the Kafka key
 * (events that share it keep their order), and one sentence for the generated document.
 */
export interface EventDefinition<S extends z.ZodObject = z.ZodObject> {
  readonly schema: S;
  readonly key: string;
  readonly summary: string;
}

/** States an event: `key` must be a field of the schema. */
export function event<S extends z.ZodObject>(
  key: Extract<keyof z.infer<S>, string>,
  summary: string,
  schema: S,
): EventDefinition<S> {
  return { schema, key, summary };
}

type Family<Noun extends string, Verb extends string, S extends z.ZodObject> = {
  readonly [V in Verb as `${Noun}.${V}.v1`]: EventDefinition<S>;
};

/** Several events of one noun that carry the same data: `core.contact.created.v1`, `core.contact.updated.v1`, … */
export function family<const Noun extends string, const Verb extends string, S extends z.ZodObject>(
  noun: Noun,
  verbs: readonly Verb[],
  key: Extract<keyof z.infer<S>, string>,
  summary: string,
  schema: S,
): Family<Noun, Verb, S> {
  const entries = verbs.map((verb) => [
    `${noun}.${verb}.v1`,
    event(key, `${summary}: ${verb.replaceAll('_', ' ')}`, schema),
  ]);
  return Object.fromEntries(entries) as Family<Noun, Verb, S>;
}

/** The verbs of a soft-deletable resource. */
export const LIFECYCLE = ['created', 'updated', 'deleted', 'restored', 'purged'] as const;
