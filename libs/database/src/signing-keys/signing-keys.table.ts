/** The module's own keys, the private half sealed; they belong to no organization, so workers alone see them. */
const SIGNING_KEYS = `CREATE TABLE signing_keys (
  kid text NOT NULL,
  purpose text NOT NULL,
  public_key jsonb NOT NULL,
  sealed_private_key text NOT NULL,
  usable_from timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (kid)
)`;

const WORKER = `current_setting('app.worker', true) = 'on'`;

/** The statements that make the table of a module's signing keys; for its migrations. */
export function signingKeysTable(): string[] {
  return [
    SIGNING_KEYS,
    'CREATE INDEX signing_keys_by_use ON signing_keys (purpose, usable_from)',
    'ALTER TABLE signing_keys ENABLE ROW LEVEL SECURITY',
    'ALTER TABLE signing_keys FORCE ROW LEVEL SECURITY',
    `CREATE POLICY worker ON signing_keys USING (${WORKER}) WITH CHECK (${WORKER})`,
  ];
}
