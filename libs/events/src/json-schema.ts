import { z } from 'zod';
import { EVENTS, type EventType } from './catalogue.js';
import { envelopeSchema } from './envelope.js';

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of an event's `data`. Further fields are allowed: a later build may add some. */
export function dataSchema(type: EventType): JsonSchema {
  return plain(EVENTS[type].schema);
}

/** The schema of the CloudEvents envelope, without `data`. */
export function envelopeJsonSchema(): JsonSchema {
  return plain(envelopeSchema);
}

function plain(schema: z.ZodType): JsonSchema {
  // As input: what must be there and what may be, while unknown fields pass.
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return JSON.parse(JSON.stringify(rest, withoutUuidPattern)) as JsonSchema;
}

/** zod spells out a pattern beside `format`; the format says the same in one word. */
function withoutUuidPattern(this: unknown, name: string, value: unknown): unknown {
  const holder = this as { format?: unknown };
  return name === 'pattern' && typeof value === 'string' && holder.format !== undefined ? undefined : value;
}
