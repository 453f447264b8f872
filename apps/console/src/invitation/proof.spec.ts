import { createHash } from 'node:crypto';
import { proofOf } from './proof.ts';

describe('the proof of an invitation’s token', () => {
  it('is what the token names and the SHA-256 of all of it, and not the token', async () => {
    const names = 'AaZz09-_'.repeat(6);
    const token = `inv_${names}${'k'.repeat(43)}`;
    expect(await proofOf(token)).toBe(`${names}.${createHash('sha256').update(token).digest('base64url')}`);
  });
});
