import { ROOT } from '@customer-platform/local/platform/modules.ts';
import { patternsWithoutFiles } from './contract-specs.ts';

describe('the tests that are run on databases of another release', () => {
  it('are all there', () => expect(patternsWithoutFiles(ROOT)).toEqual([]));
});
