import { FORBIDDEN_KEYS } from '@customer-platform/http';
import fc from 'fast-check';
import { applyTraits, emptyProfile } from './contact-profile.js';

const instant = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

describe('applyTraits', () => {
  it('lets the latest occurred_at win in every field, whatever order identifies come in', () => {
    const identify = fc.record({
      at: fc.integer({ min: 0, max: 30 }),
      traits: fc.dictionary(
        fc.constantFrom('first_name', 'last_name', 'locale', 'plan', 'level'),
        fc.constantFrom('es', 'en', null),
        { minKeys: 1 },
      ),
    });
    const distinct = fc.uniqueArray(identify, { selector: ({ at }) => at, maxLength: 12 });
    const inAnyOrder = distinct.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(inAnyOrder, ([list, shuffled]) => {
        const inOrder = emptyProfile();
        const asTheyCame = emptyProfile();
        for (const { at, traits } of [...list].sort((a, b) => a.at - b.at))
          applyTraits(inOrder, traits, instant(at));
        for (const { at, traits } of shuffled) applyTraits(asTheyCame, traits, instant(at));
        expect(asTheyCame).toEqual(inOrder);
      }),
    );
  });

  it('names what changed, and nothing when all was known', () => {
    const profile = emptyProfile();
    const traits = { email: 'Ana@example.cl', plan: 'gold' };
    expect(applyTraits(profile, traits, instant(1)).changed).toEqual(['email', 'attributes.plan']);
    expect(applyTraits(profile, traits, instant(2))).toMatchObject({ changed: [], taken: ['email'] });
    expect(profile.emailNormal).toBe('ana@example.cl');
  });

  it('clears with null', () => {
    const profile = emptyProfile();
    applyTraits(profile, { email: 'ana@example.cl', plan: 'gold' }, instant(1));
    applyTraits(profile, { email: null, plan: null }, instant(2));
    expect(profile).toMatchObject({ email: null, emailNormal: null, attributes: {} });
  });

  it('skips a malformed known trait with a warning and takes the rest', () => {
    const profile = emptyProfile();
    const { warnings } = applyTraits(profile, { email: 'nobody', first_name: 'Ana' }, instant(1));
    expect(warnings).toEqual([{ pointer: '/traits/email', code: 'invalid_format' }]);
    expect(profile).toMatchObject({ email: null, firstName: 'Ana' });
  });

  it('reads a national phone by the country of the same identify', () => {
    const profile = emptyProfile();
    applyTraits(profile, { phone: '9 1234 5678', country: 'cl' }, instant(1));
    expect(profile).toMatchObject({ phone: '+56912345678', country: 'CL' });
  });

  it('keeps at most 200 attributes and 64 KiB of them', () => {
    const profile = emptyProfile();
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`a/${at}`, at]));
    const { warnings } = applyTraits(profile, many, instant(1));
    expect(Object.keys(profile.attributes)).toHaveLength(200);
    expect(warnings).toEqual([{ pointer: '/traits/a~1200', code: 'limit_reached' }]);
    const large = applyTraits(profile, { 'a/0': 'x'.repeat(65 * 1024) }, instant(2));
    expect(large).toMatchObject({ changed: [], warnings: [{ code: 'limit_reached' }] });
  });

  it('counts 64 KiB to the byte, whatever is set, changed and cleared before', () => {
    const key = fc.string({ unit: 'grapheme' }).filter((name) => !FORBIDDEN_KEYS.has(name));
    const traits = fc.dictionary(key, fc.jsonValue(), { maxKeys: 20 });
    fc.assert(
      fc.property(fc.array(traits, { maxLength: 5 }), (list) => {
        const profile = emptyProfile();
        list.forEach((each, at) => applyTraits(profile, each, instant(at)));
        const room = 64 * 1024 - Buffer.byteLength(JSON.stringify(profile.attributes));
        const frame = Object.keys(profile.attributes).length === 0 ? '"~":""' : ',"~":""';
        fc.pre(!Object.hasOwn(profile.attributes, '~') && room > frame.length);
        const most = 'x'.repeat(room - frame.length);
        expect(applyTraits(profile, { '~': `${most}x` }, instant(9)).warnings).toHaveLength(1);
        expect(applyTraits(profile, { '~': most }, instant(10)).changed).toEqual(['attributes.~']);
        expect(Buffer.byteLength(JSON.stringify(profile.attributes))).toBe(64 * 1024);
      }),
    );
  });

  it('does not grow by nulls for attributes that it has not', () => {
    const profile = emptyProfile();
    applyTraits(profile, { plan: 'gold' }, instant(1));
    const nulls = Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`k${at}`, null]));
    applyTraits(profile, nulls, instant(2));
    expect(Object.keys(profile.fieldTimes.attributes)).toHaveLength(400);
    expect(profile.fieldTimes.attributes['plan']).toBe(instant(1));
  });

  it('takes the first 400 attributes of an identify, and all known traits', () => {
    const profile = emptyProfile();
    const nulls = Array.from({ length: 398 }, (_, at) => [`k${at}`, null]);
    const rest = Array.from({ length: 3_000 }, (_, at) => [`rest${at}`, 1]);
    const most = { ...(Object.fromEntries(nulls) as object), plan: 'gold', level: 2 };
    expect(applyTraits(profile, { ...most, first_name: 'Ana' }, instant(1)).warnings).toEqual([]);
    const more = { ...most, ...(Object.fromEntries(rest) as object), first_name: 'Eva' };
    expect(applyTraits(profile, more, instant(2)).warnings).toEqual([
      { pointer: '/traits', code: 'limit_reached' },
    ]);
    expect(profile).toMatchObject({ firstName: 'Eva', attributes: { plan: 'gold', level: 2 } });
    expect(profile.fieldTimes.attributes).toHaveProperty('k397', instant(2));
  });

  it('remembers what was taken away last, of all that was ever taken away', () => {
    const profile = emptyProfile();
    for (let second = 0; second < 30; second++) {
      const nulls = Array.from({ length: 50 }, (_, at) => [`k${second}-${at}`, null]);
      applyTraits(profile, Object.fromEntries(nulls) as Record<string, null>, instant(second));
    }
    const kept = Object.values(profile.fieldTimes.attributes);
    expect(kept).toHaveLength(400);
    expect([...kept].sort()[0]).toBe(instant(22));
  });

  it('takes a trait named like a method of every object', () => {
    const profile = emptyProfile();
    applyTraits(profile, { toString: 'x', hasOwnProperty: 1 }, instant(1));
    applyTraits(profile, { toString: 'y' }, instant(2));
    expect(profile.attributes).toEqual({ toString: 'y', hasOwnProperty: 1 });
  });
});
