import { isStorableText } from '@customer-platform/http';
import { z } from 'zod';
import type { AuditEntry } from './audit-entry.js';

/** As a database keeps it, so that what is hashed is what is read back. */
const id = z.guid().transform((text) => text.toLowerCase());
const text = z.string().refine(isStorableText, 'must be text that can be stored');

const entry = z.object({
  id,
  organization_id: id,
  occurred_at: z.iso.datetime({ precision: 3 }),
  actor: z.object({ type: text, id: text, impersonator_id: text.nullable() }),
  action: text,
  module: text,
  resource: z.object({ type: text, id: text }),
  outcome: z.enum(['success', 'denied']),
  changed_fields: z.array(text),
  reason: text.nullable(),
  correlation_id: id,
  ip: text.nullable(),
  user_agent: text.nullable(),
}) satisfies z.ZodType<AuditEntry>;

/**
 * An audit row as it came over {@link AUDIT_TOPIC}; what a newer module says beyond these fields is left out.
 * @throws SyntaxError, ZodError for what is none
 */
export function readAuditEntry(value: string): AuditEntry {
  return entry.parse(JSON.parse(value));
}
