import { rowSecurity } from '@customer-platform/database';

/** Who was erased stands nowhere in it: a request's id leads to a person in core alone, and not for ever. */
const ERASURE_RECEIPTS = `CREATE TABLE erasure_receipts (
  organization_id uuid NOT NULL,
  subject_request_id uuid NOT NULL,
  counts jsonb NOT NULL,
  receipt text NOT NULL,
  completed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, subject_request_id)
)`;

/** The statements that make the table of a module's receipts; for its migrations, beside `signingKeysTable()`. */
export function erasureReceiptsTable(): string[] {
  return [ERASURE_RECEIPTS, ...rowSecurity('erasure_receipts')];
}
