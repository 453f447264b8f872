import { randomBytes } from 'node:crypto';
import { SecretBox, UnreadableSecret } from './secret-box.js';

describe('SecretBox', () => {
  const key = randomBytes(32);
  const box = new SecretBox({ root: key, sealing: [] });
  const now = new Date('2026-11-21T12:00:00.000Z');

  it('opens what it sealed, in the same place only', () => {
    const sealed = box.seal('pässword', 'org/email/password', now);
    expect(box.open(sealed, 'org/email/password')).toBe('pässword');
    expect(() => box.open(sealed, 'other/email/password')).toThrow(UnreadableSecret);
    expect(() =>
      new SecretBox({ root: randomBytes(32), sealing: [] }).open(sealed, 'org/email/password'),
    ).toThrow(UnreadableSecret);
  });

  it('notices any altered piece', () => {
    const sealed = box.seal('secret', 'place', now);
    sealed.sealed.split('.').forEach((piece, index, pieces) => {
      const altered = pieces.with(index, piece.startsWith('A') ? `B${piece.slice(1)}` : `A${piece.slice(1)}`);
      expect(() => box.open({ ...sealed, sealed: altered.join('.') }, 'place')).toThrow(UnreadableSecret);
    });
  });

  it('shows nothing of the secret, and whether it is another one', () => {
    const first = box.seal('hunter2', 'place', now);
    expect(JSON.stringify(first)).not.toContain('hunter2');
    expect(box.seal('hunter2', 'place', now).fingerprint).toBe(first.fingerprint);
    expect(box.seal('hunter2', 'place', now).sealed).not.toBe(first.sealed);
    expect(box.seal('hunter3', 'place', now).fingerprint).not.toBe(first.fingerprint);
  });
});
