import type { Entry } from './entry.ts';
import { LiveBuffer } from './live-buffer.ts';

const entry = (second: number): Entry => {
  const at = new Date(second * 1_000).toISOString();
  return { kind: 'dead_lettered', key: `e${second}`, at, letter: { event_id: `e${second}`, code: 'x' } };
};
const entries = (from: number, to: number): Entry[] =>
  Array.from({ length: to - from + 1 }, (_, at) => entry(from + at));

/** A buffer of ten that draws when told to. */
function aBuffer() {
  let turn: (() => void)[] = [];
  const buffer = new LiveBuffer((run) => turn.push(run), 10);
  const draw = (): string[] => {
    const runs = turn;
    turn = [];
    for (const run of runs) run();
    return buffer.current().entries.map(({ key }) => key);
  };
  return { buffer, draw };
}

describe('the newest events', () => {
  it('stand newest first and once, whatever order they come in', () => {
    const { buffer, draw } = aBuffer();
    buffer.add([entry(2), entry(1)]);
    buffer.add([entry(3), entry(1), entry(2)]);
    expect(draw()).toEqual(['e3', 'e2', 'e1']);
    buffer.add([entry(3)]);
    expect(draw()).toEqual(['e3', 'e2', 'e1']);
  });

  it('are drawn once for however many came in one turn', () => {
    const { buffer, draw } = aBuffer();
    let drawn = 0;
    buffer.subscribe(() => (drawn += 1));
    for (const each of entries(1, 9)) buffer.add([each]);
    draw();
    expect(drawn).toBe(1);
    expect(buffer.current().entries).toHaveLength(9);
  });

  it('let the oldest go, and count them', () => {
    const { buffer, draw } = aBuffer();
    buffer.add(entries(1, 12));
    expect(draw()).toEqual(
      entries(3, 12)
        .reverse()
        .map(({ key }) => key),
    );
    expect(buffer.current().letGo).toBe(2);
    expect(buffer.has('e1')).toBe(false);
  });

  it('wait while the list stands still, and come when it goes on', () => {
    const { buffer, draw } = aBuffer();
    buffer.add([entry(1)]);
    draw();
    buffer.hold(true);
    buffer.add(entries(2, 4));
    expect(draw()).toEqual(['e1']);
    expect(buffer.current().waiting).toBe(3);
    buffer.hold(false);
    expect(draw()).toEqual(['e4', 'e3', 'e2', 'e1']);
    expect(buffer.current().waiting).toBe(0);
  });

  it('never wait without end, also where nothing is drawn', () => {
    const { buffer, draw } = aBuffer();
    buffer.add([entry(0)]);
    draw();
    buffer.hold(true);
    for (const each of entries(1, 500)) buffer.add([each]);
    draw();
    expect(buffer.current()).toMatchObject({ waiting: 10, letGo: 490 });
    buffer.hold(false);
    expect(draw()).toEqual(
      entries(491, 500)
        .reverse()
        .map(({ key }) => key),
    );
  });

  it('show what is there also where the list stands still from the start', () => {
    const { buffer, draw } = aBuffer();
    buffer.hold(true);
    buffer.add(entries(1, 2));
    expect(draw()).toEqual(['e2', 'e1']);
    buffer.add([entry(3)]);
    expect(draw()).toEqual(['e2', 'e1']);
  });

  it('are a view that stays the same object until something is drawn', () => {
    const { buffer, draw } = aBuffer();
    const before = buffer.current();
    buffer.add([entry(1)]);
    expect(buffer.current()).toBe(before);
    draw();
    expect(buffer.current()).not.toBe(before);
  });
});
