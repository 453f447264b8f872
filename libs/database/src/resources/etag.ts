import { etagOf } from '@customer-platform/http';

/** The strong entity tag of a row's present state: `updatedAt` grows with every change, so it names one state only. */
export function versionTag(row: { updatedAt: Date }): string {
  return etagOf(row.updatedAt.toISOString());
}
