import { randomUUID } from 'node:crypto';
import type { AuditEntry } from './audit-entry.js';
import { readAuditEntry } from './read-audit-entry.js';

const anEntry = (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: randomUUID(),
  organization_id: randomUUID(),
  occurred_at: '2026-01-15T12:00:00.000Z',
  actor: { type: 'user', id: randomUUID(), impersonator_id: null },
  action: 'crm.notes.update',
  module: 'crm',
  resource: { type: 'notes', id: randomUUID() },
  outcome: 'denied',
  changed_fields: ['body'],
  reason: 'asked by phone',
  correlation_id: randomUUID(),
  ip: null,
  user_agent: null,
  ...overrides,
});

describe('readAuditEntry', () => {
  it('reads what a module publishes', () => {
    const entry = anEntry();
    expect(readAuditEntry(JSON.stringify(entry))).toEqual(entry as unknown as AuditEntry);
  });

  it('leaves out what a newer module says beyond it, and writes ids as a database does', () => {
    const correlation = randomUUID();
    const read = readAuditEntry(
      JSON.stringify(anEntry({ correlation_id: correlation.toUpperCase(), since: 'tomorrow' })),
    );
    expect(read.correlation_id).toBe(correlation);
    expect(read).not.toHaveProperty('since');
  });

  it.each([
    ['an id that is none', { id: 'first' }],
    ['a time without milliseconds', { occurred_at: '2026-01-15T12:00:00Z' }],
    ['an outcome that is none', { outcome: 'perhaps' }],
    ['text that no database keeps', { reason: 'a\u0000b' }],
    ['half a character', { user_agent: '\ud800' }],
    ['no actor', { actor: undefined }],
    ['changed fields that are no list', { changed_fields: 'body' }],
  ])('refuses %s', (_, wrong) => {
    expect(() => readAuditEntry(JSON.stringify(anEntry(wrong)))).toThrow();
  });

  it('refuses what is no JSON', () => {
    expect(() => readAuditEntry('{')).toThrow(SyntaxError);
  });
});
