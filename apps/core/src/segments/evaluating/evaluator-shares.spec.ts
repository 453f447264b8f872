import fc from 'fast-check';
import { newId } from '@customer-platform/database';
import { evaluatorOf, type EvaluatorInstance } from './evaluator-shares.js';

const uuid = fc.uuid({ version: 7 });
const instance = uuid.map((id): EvaluatorInstance => ({ id, setAside: new Set() }));
const instances = fc.uniqueArray(instance, { minLength: 2, maxLength: 12, selector: ({ id }) => id });
const organizations = fc.uniqueArray(uuid, { minLength: 1, maxLength: 50 });

describe('evaluatorOf', () => {
  it('is the same for all, in whatever order they know each other', () => {
    fc.assert(
      fc.property(instances, organizations, (all, ids) => {
        for (const id of ids) {
          const owner = evaluatorOf(id, all);
          expect(all.map((one) => one.id)).toContain(owner);
          expect(evaluatorOf(id, [...all].reverse())).toBe(owner);
        }
      }),
    );
  });

  it('moves only what one had that goes, and only to one that comes', () => {
    fc.assert(
      fc.property(instances, organizations, ([one, ...rest], ids) => {
        for (const id of ids) {
          const before = evaluatorOf(id, rest);
          const after = evaluatorOf(id, one ? [one, ...rest] : rest);
          expect([before, one?.id]).toContain(after);
        }
      }),
    );
  });

  it('passes over one that has set the organization aside, unless all have', () => {
    fc.assert(
      fc.property(instances, uuid, (all, id) => {
        const first = evaluatorOf(id, all);
        const without = (one: EvaluatorInstance): EvaluatorInstance => ({ ...one, setAside: new Set([id]) });
        expect(
          evaluatorOf(
            id,
            all.map((one) => (one.id === first ? without(one) : one)),
          ),
        ).not.toBe(first);
        expect(evaluatorOf(id, all.map(without))).toBe(first);
      }),
    );
  });

  it('spreads organizations evenly', () => {
    const all = Array.from({ length: 8 }, (): EvaluatorInstance => ({ id: newId(), setAside: new Set() }));
    const counts = new Map(all.map(({ id }) => [id, 0]));
    for (let made = 0; made < 8_000; made += 1) {
      const owner = evaluatorOf(newId(), all) ?? '';
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    // A thousand each, and the standard deviation is 30.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
  });

  it('is nobody where nobody is', () => {
    expect(evaluatorOf(newId(), [])).toBeUndefined();
  });
});
