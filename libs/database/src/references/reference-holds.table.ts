import { rowSecurity } from '../migrations/row-security.js';

const REFERENCE_HOLDS = `CREATE TABLE reference_holds (
  organization_id uuid NOT NULL,
  hold_id uuid NOT NULL,
  resource text NOT NULL,
  referenced_id uuid NOT NULL,
  held_until timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, hold_id)
)`;

/** The statements for the table of a module that points to resources of other modules; for a migration of its own. */
export function referenceHoldsTable(): string[] {
  return [
    REFERENCE_HOLDS,
    'CREATE INDEX reference_holds_by_id ON reference_holds (organization_id, referenced_id)',
    ...rowSecurity('reference_holds'),
  ];
}

/** Undoes {@link referenceHoldsTable}. */
export function dropReferenceHoldsTable(): string[] {
  return ['DROP TABLE reference_holds'];
}
