import { draw, type Source } from './draw.ts';
import { mutationsOf } from './mutations.ts';

const text = ['if (a < b) await c();', 'if (d === e) f(20);', 'if (g > h) await i(30);'].join('\n');
const SOURCES: Source[] = [{ path: 'a.ts', text, mutations: mutationsOf('a.ts', text, new Set()) }];

it('draws the same of a seed, each once, and the kinds in turn', () => {
  const all = draw(SOURCES, 8, 1);
  expect(draw(SOURCES, 8, 1)).toEqual(all);
  expect(new Set(all.map(({ before, after }) => before + after)).size).toBe(8);
  expect(new Set(all.slice(0, 4).map(({ kind }) => kind)).size).toBe(4);
});

it('draws no more than there are', () => {
  expect(draw(SOURCES, 100, 2)).toHaveLength(SOURCES[0]?.mutations.length ?? 0);
});

it('pins a fault by its line', () => {
  const turned = draw(SOURCES, 100, 3).find(({ replacement }) => replacement === '<=');
  expect(turned).toMatchObject({
    line: 1,
    before: 'if (a < b) await c();',
    after: 'if (a <= b) await c();',
  });
});
