import type { AuthorizationSource } from './authorization-source.js';
import { KeyUsage, type KeyUseNote } from './key-usage.js';
import { AUTHORIZATION_BATCH } from './protocol.js';

describe('uses of keys', () => {
  it('are each reported once after a report that failed, however many there are', async () => {
    const reported: string[] = [];
    let calls = 0;
    const source: Pick<AuthorizationSource, 'reportUsage'> = {
      reportUsage: (uses) => {
        calls += 1;
        if (calls === 2) return Promise.reject(new Error('away'));
        reported.push(...uses.map(({ key_id: id }) => id));
        return Promise.resolve();
      },
    };
    const usage = new KeyUsage(source as AuthorizationSource);
    const notes = Array.from({ length: 100_000 }, (_, at): KeyUseNote => ({
      organizationId: 'o',
      keyId: String(at),
      lastUsedAt: 0,
      pending: false,
    }));
    for (const note of notes) usage.note(note);
    await usage.report();
    expect(reported).toHaveLength(AUTHORIZATION_BATCH);
    for (const note of notes) usage.note(note);
    await usage.report();
    // The first batch was used again since it was reported.
    expect(reported).toHaveLength(notes.length + AUTHORIZATION_BATCH);
    expect(new Set(reported).size).toBe(notes.length);
  });
});
