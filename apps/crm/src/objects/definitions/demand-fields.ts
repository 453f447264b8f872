import { Problem } from '@customer-platform/problem-json';
import type { FieldDemands } from '../../fields/field-changes.js';
import type { Tally } from './tallies.js';

/**
 * Refuses a change of fields that the records do not allow. The counts are those of the transactions that wrote the
 * records, and nobody writes any while the definition is held: nothing is scanned, and nothing slips past.
 * @throws Problem `field_in_use`, `records_incompatible`, each with `field` and `count`
 */
export function demandFields(tally: Tally, { unused, filled }: FieldDemands): void {
  for (const field of unused) {
    const count = tally.held[field] ?? 0;
    if (count === 0) continue;
    const detail = `${String(count)} records hold a value of ${field}, soft-deleted ones included.`;
    throw new Problem('field_in_use', { detail, members: { field, count } });
  }
  for (const field of filled) {
    const count = tally.active - (tally.activeHeld[field] ?? 0);
    if (count === 0) continue;
    const detail = `${String(count)} active records have no value of ${field}.`;
    throw new Problem('records_incompatible', { detail, members: { field, count } });
  }
}
