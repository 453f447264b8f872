import { specsOf, type Coverage } from './coverage.ts';

const ran = (spec: string, lines: Coverage['lines'], seconds = 1, green = true): Coverage => ({
  spec,
  green,
  seconds,
  lines,
});
const PATH = 'apps/core/src/a/b.ts';

it('names the spec files of a line, nearest first, and the quickest among equals', () => {
  const all = [
    ran('apps/crm/src/x.spec.ts', { [PATH]: [4] }),
    ran('apps/core/src/a/slow.spec.ts', { [PATH]: [4] }, 9),
    ran('apps/core/src/a/quick.spec.ts', { [PATH]: [4] }),
    ran('apps/core/src/a/b.spec.ts', { [PATH]: [4] }, 20),
    ran('apps/core/src/a/elsewhere.spec.ts', { [PATH]: [5] }),
    ran('apps/core/src/a/red.spec.ts', { [PATH]: [4] }, 1, false),
  ];
  expect(specsOf(all, PATH, 4)).toEqual([
    'apps/core/src/a/b.spec.ts',
    'apps/core/src/a/quick.spec.ts',
    'apps/core/src/a/slow.spec.ts',
    'apps/crm/src/x.spec.ts',
  ]);
});

it('names those that run anything of the file where a line is run when it is loaded', () => {
  const all = [ran('a.spec.ts', { [PATH]: [1, 4] }), ran('b.spec.ts', { [PATH]: [4] })];
  expect(specsOf(all, PATH, 1)).toEqual(['a.spec.ts', 'b.spec.ts']);
  expect(specsOf(all, 'apps/core/src/other.ts', 1)).toEqual([]);
});
