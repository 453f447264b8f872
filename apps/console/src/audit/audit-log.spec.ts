import { auditQuery, headOf, lineOf, type AuditRow } from './audit-log.ts';

const ID = '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f';

const aRow = (given: Partial<AuditRow> = {}): AuditRow => ({
  id: ID,
  seq: 7,
  occurred_at: '2026-11-23T07:00:00.000Z',
  actor: { type: 'user', id: ID, impersonator_id: null },
  action: 'roles.updated',
  module: 'identity',
  resource: { type: 'role', id: ID },
  outcome: 'success',
  changed_fields: ['name', 'permissions'],
  correlation_id: ID,
  ip: null,
  user_agent: null,
  reason: null,
  created_at: '2026-11-23T07:00:01.000Z',
  updated_at: '2026-11-23T07:00:01.000Z',
  prev_hash: '00',
  hash: 'ff',
  ...given,
});

describe('the audit log as a file', () => {
  it('has as JSON lines what the API answered, one row a line', () => {
    const line = lineOf(aRow({ reason: 'two\nlines' }), 'jsonl');
    expect(line.split('\n')).toHaveLength(2);
    expect(JSON.parse(line)).toEqual(aRow({ reason: 'two\nlines' }));
    expect(headOf('jsonl')).toBe('');
  });

  it('has as CSV as many cells as columns', () => {
    const cells = lineOf(aRow(), 'csv').trimEnd().split(',');
    expect(cells).toHaveLength(headOf('csv').trimEnd().split(',').length);
    expect(cells[0]).toBe('7');
    expect(cells).toContain('name permissions');
  });

  it('keeps quotes, commas and line ends within their cell', () => {
    expect(lineOf(aRow({ reason: 'He said "no",\nthen left' }), 'csv')).toContain(
      '"He said ""no"",\nthen left"',
    );
  });

  it.each([
    "x;=cmd|' /C calc'!A0;y",
    'x\t=1',
    ' =1',
    '   =1',
    'x;  =1',
    'x;"=1"',
    '＝1',
    '=HYPERLINK("http://evil")',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
  ])('never begins a cell so that a spreadsheet works it out: %j', (user_agent) => {
    const cells = lineOf(aRow({ user_agent }), 'csv');
    expect(cells).toMatch(/'[\s"]*[=+\-@＝]/);
    expect(cells).not.toMatch(/(^|[,;\t\r\n])[\s"]*[=+\-@＝]/);
  });
});

describe('the filters of the audit log', () => {
  it('are the query’s own, from an instant on and before another', () => {
    const query = auditQuery({ module: 'core', from: 'a', to: 'b' });
    expect(query).toEqual({ module: 'core', 'occurred_at[gte]': 'a', 'occurred_at[lt]': 'b' });
  });
});
