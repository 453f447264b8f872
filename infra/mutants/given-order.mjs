import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/** Spec files in the order in which `npm run mutants` names them. */
export class GivenOrder extends TestSequencer {
  sort(tests) {
    const order = JSON.parse(process.env.MUTANT_SPECS ?? '[]');
    const place = ({ path, context }) => order.indexOf(relative(context.config.rootDir, path));
    return [...tests].sort((one, other) => place(one) - place(other));
  }
}

export { GivenOrder as default };
