import { Sayings } from './sayings.ts';

describe('what is said', () => {
  it('before somebody shows it waits in its order, and asks for that once it is there', () => {
    const sayings = new Sayings();
    const shown: string[] = [];
    let asked = 0;
    sayings.say({ title: 'a', undo: undefined });
    sayings.onFirst(() => (asked += 1));
    sayings.say({ title: 'b', undo: undefined });
    expect([asked, shown]).toEqual([2, []]);
    const end = sayings.shownBy(({ title }) => shown.push(title));
    sayings.say({ title: 'c', undo: undefined });
    expect([asked, shown]).toEqual([2, ['a', 'b', 'c']]);
    end();
    sayings.say({ title: 'd', undo: undefined });
    expect(shown).toHaveLength(3);
    sayings.shownBy(({ title }) => shown.push(title));
    expect(shown).toEqual(['a', 'b', 'c', 'd']);
  });
});
