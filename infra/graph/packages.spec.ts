import { ranks, reduced, type PackageNode } from './packages.ts';

const node = (path: string, ...imports: string[]): PackageNode => ({ path, imports });

describe('the graph of packages', () => {
  const graph = [node('core', 'http', 'events'), node('http', 'events'), node('events')];

  it('leaves out an arrow that a longer way implies', () => {
    expect(reduced(graph).map(({ imports }) => imports)).toEqual([['http'], ['events'], []]);
  });

  it('stands a package above all that it imports', () => {
    expect([...ranks(graph)].sort()).toEqual([
      ['core', 2],
      ['events', 0],
      ['http', 1],
    ]);
  });

  it('refuses packages that import each other, and names the ring', () => {
    expect(() => ranks([node('a', 'b'), node('b', 'a')])).toThrow('a → b → a');
  });
});
