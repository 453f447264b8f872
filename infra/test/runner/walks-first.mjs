import { statSync } from 'node:fs';
import TestSequencer from '@jest/test-sequencer';

/**
 * Puts walks before all other files, so that those of a worker follow one another and share a platform, and larger files
 * before smaller ones, so that both workers end at about the same time.
 */
export class WalksFirst extends TestSequencer {
  sort(tests) {
    const ranked = tests.map((test) => ({ test, walk: isWalk(test), size: statSync(test.path).size }));
    return ranked
      .sort((one, other) => Number(other.walk) - Number(one.walk) || other.size - one.size)
      .map(({ test }) => test);
  }
}

export { WalksFirst as default };

function isWalk({ path }) {
  return path.endsWith('.e2e-spec.ts');
}
