import fc from 'fast-check';
import { sliceArrayItems } from './json-slices.js';

describe('sliceArrayItems', () => {
  it('gives each item the bytes it was sent as', () => {
    const spaces = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
    const items = fc.array(fc.json({ stringUnit: 'binary', maxDepth: 4 }), { maxLength: 8 });
    fc.assert(
      fc.property(items, spaces, fc.json({ stringUnit: 'binary' }), (texts, space, other) => {
        const list = `[${space}${texts.join(`${space},${space}`)}${space}]`;
        const body = `${space}{${space}"x"${space}:${other},"events"${space}:${space}${list}${space},"y":${other}}`;
        const bytes = Buffer.from(body);
        expect(sliceArrayItems(bytes, 'events').map(String)).toEqual(
          texts.map((text) => Buffer.from(text).toString()),
        );
      }),
    );
  });

  it('takes the last of a repeated name, escaped or not', () => {
    const body = Buffer.from('{"events":[1,2],"\\u0065vents":["\\\\\\"]"]}');
    expect(sliceArrayItems(body, 'events').map(String)).toEqual(['"\\\\\\"]"']);
  });
});
