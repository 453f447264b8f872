import fc from 'fast-check';
import { layered, type Keyed } from './layers.js';

const events = fc.array(
  fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), type: fc.constantFrom('x', 'y', 'z') }),
  { maxLength: 60 },
);

interface Numbered extends Keyed {
  readonly place: number;
}

function numbered(sequence: readonly Keyed[]): Numbered[] {
  return sequence.map((event, place) => ({ ...event, place }));
}

describe('layered', () => {
  it('takes every event exactly once, in runs of one type', () => {
    fc.assert(
      fc.property(events, (sequence) => {
        const runs = layered(numbered(sequence));
        expect(
          runs
            .flat()
            .map(({ place }) => place)
            .sort((a, b) => a - b),
        ).toEqual(sequence.map((_, i) => i));
        for (const run of runs) expect(new Set(run.map(({ type }) => type)).size).toBe(1);
      }),
    );
  });

  it('keeps the order of every key across all types', () => {
    fc.assert(
      fc.property(events, (sequence) => {
        const taken = layered(numbered(sequence)).flat();
        for (const key of new Set(sequence.map((event) => event.key))) {
          const places = taken.filter((event) => event.key === key).map(({ place }) => place);
          expect(places).toEqual([...places].sort((a, b) => a - b));
        }
      }),
    );
  });

  it('makes no more runs than the longest change of types of one key, times the types', () => {
    fc.assert(
      fc.property(events, (sequence) => {
        const changes = new Map<string, { type: string; layers: number }>();
        for (const { key, type } of sequence) {
          const before = changes.get(key);
          const layers = before ? before.layers + (before.type === type ? 0 : 1) : 1;
          changes.set(key, { type, layers });
        }
        const deepest = Math.max(0, ...[...changes.values()].map(({ layers }) => layers));
        expect(layered(sequence).length).toBeLessThanOrEqual(deepest * 3);
      }),
    );
  });

  it('puts events of one type into one run, however many keys they have', () => {
    const sequence = Array.from({ length: 500 }, (_, i) => ({ key: String(i % 50), type: 'x' }));
    expect(layered(sequence)).toHaveLength(1);
  });
});
