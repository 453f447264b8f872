import { findingsIn, readExcuses, unexcused } from './migration-findings.ts';
import { type MigrationSql, sqlOf, statementsOf } from './migration-sql.ts';

const aMigration = (statements: string[], transactional = true): MigrationSql => ({
  module: 'core',
  name: 'ChangeThings1766999999999',
  timestamp: 1_766_999_999_999,
  statements,
  transactional,
});
const rulesIn = (statements: string[], transactional = true): string[] =>
  findingsIn([aMigration(statements, transactional)]).map(({ rule }) => rule);

describe('what is found in migrations', () => {
  it('finds an index that takes the place of the constraint that ON CONFLICT names', () => {
    const rules = rulesIn([
      'ALTER TABLE identities DROP CONSTRAINT identities_owner',
      'CREATE UNIQUE INDEX identities_owner ON identities (organization_id, type) WHERE yielded_at IS NULL',
    ]);
    expect(rules).toContain('ban-drop-constraint');
    expect(rules).toContain('require-concurrent-index-creation');
  });

  it('finds a column that goes, and one that comes without a value for the rows that are there', () => {
    expect(rulesIn(['ALTER TABLE notes DROP COLUMN body'])).toContain('ban-drop-column');
    expect(rulesIn(['ALTER TABLE notes ADD COLUMN weight text NOT NULL'])).toContain('adding-required-field');
  });

  it('finds nothing in what only adds', () => {
    expect(
      rulesIn([
        'CREATE TABLE things (organization_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (organization_id, id))',
        'CREATE INDEX things_by_id ON things (id)',
        'ALTER TABLE notes ADD COLUMN weight text',
      ]),
    ).toEqual([]);
    expect(rulesIn(['CREATE INDEX CONCURRENTLY notes_by_weight ON notes (weight)'], false)).toEqual([]);
  });

  it('accepts what has a reason, and names a reason that nothing needs', () => {
    const migration = 'ChangeThings1766999999999';
    const findings = findingsIn([aMigration(['ALTER TABLE notes DROP COLUMN body'])]);
    const excused = [{ migration, rules: ['ban-drop-column', 'renaming-table'], reason: 'Nobody reads it.' }];
    expect(unexcused(findings, { excused })).toEqual({
      findings: [],
      idle: [`${migration} renaming-table`],
    });
    expect(unexcused(findings, { excused: [] }).findings).toEqual(findings);
  });

  it('has a reason for every excuse', () => {
    for (const { reason } of readExcuses().excused) expect(reason.length).toBeGreaterThan(40);
  });
});

describe('the SQL of a migration', () => {
  it('is what it says to its database, in order, and nothing runs', async () => {
    const { statements, transactional } = await statementsOf({
      transaction: false,
      up: async (runner) => {
        const rows = await runner.query('SELECT 1 FROM things');
        await runner.startTransaction();
        await runner.query(rows.length === 0 ? ' CREATE TABLE things (id uuid); ' : 'SELECT 2');
        await runner.commitTransaction();
      },
    });
    expect(statements).toEqual(['SELECT 1 FROM things', 'BEGIN', 'CREATE TABLE things (id uuid);', 'COMMIT']);
    expect(transactional).toBe(false);
    expect(sqlOf({ statements })).toBe(
      'SELECT 1 FROM things;\n\nBEGIN;\n\nCREATE TABLE things (id uuid);\n\nCOMMIT;\n',
    );
  });
});
