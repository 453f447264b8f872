import { readAuditEntry, type AuditEntry } from '@customer-platform/audit';
import { UnprovenEvent, type Publisher } from '@customer-platform/events';

/**
 * The audit row in a record.
 * @param writer the module that has proven to have written it; undefined where none had to
 * @throws UnprovenEvent when it names another module; and what `readAuditEntry` throws
 */
export function entryOf(value: Buffer, writer: Publisher | undefined): AuditEntry {
  const entry = readAuditEntry(value.toString('utf8'));
  if (writer !== undefined && writer !== entry.module)
    throw new UnprovenEvent(`an audit row of ${entry.module} is signed by ${writer}`);
  return entry;
}
