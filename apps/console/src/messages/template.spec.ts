import {
  CONTENT_PLACE,
  draftAs,
  draftFrom,
  emptyParts,
  isOutdated,
  localesPatch,
  mayHoldOlder,
  newTemplate,
  partNames,
  partsIn,
  renderTag,
  toRenew,
  type Template,
} from './template.ts';
import type { TemplateKind } from './vocabulary.ts';

function aTemplate(over: Partial<Template> = {}): Template {
  return {
    id: 'one',
    name: 'Gracias',
    kind: 'message',
    channel: 'email',
    layout: null,
    uses: [],
    default_locale: 'es',
    locales: { es: { subject: 'Hola', html: '<p>Hola</p>' } },
    variables: {},
    strict: true,
    version: 1,
    published_version: 1,
    created_at: '2026-11-27T00:00:00Z',
    updated_at: '2026-11-27T00:00:00Z',
    deleted_at: null,
    ...over,
  };
}

const using = (id: string, kind: TemplateKind, version: number, published: number | null = 2): Template =>
  aTemplate({
    id,
    kind,
    uses: [{ id: 'footer', name: 'Pie', kind: 'partial', version, published_version: published }],
  });

describe('the parts of a template', () => {
  it('are those of its channel; a mail is HTML or MJML, a piece of mails may be both', () => {
    expect(partNames('message', 'email', { subject: '', mjml: '' })).toEqual(['subject', 'mjml', 'text']);
    expect(partNames('partial', 'email', {})).toEqual(['html', 'mjml', 'text']);
    expect(partNames('layout', 'push', {})).toEqual(['body']);
  });

  it('of a layout begin with the place of the message', () => {
    expect(emptyParts('layout', 'email')).toEqual({ html: CONTENT_PLACE });
    expect(emptyParts('message', 'push')).toEqual({ title: '', body: '' });
  });

  it('keep what was written where another kind or channel has them, too', () => {
    const draft = { ...draftFrom(aTemplate()), layout: 'Marca' };
    expect(draftAs(draft, { kind: 'partial' })).toMatchObject({
      kind: 'partial',
      layout: null,
      locales: { es: { html: '<p>Hola</p>' } },
    });
    expect(draftAs(newTemplate('layout', 'email', 'es'), { kind: 'message' }).locales).toEqual({
      es: { subject: '', html: '' },
    });
  });

  it('keep MJML and plain text, too, and no empty HTML beside them', () => {
    const written = { mjml: '<mj-text>Hola</mj-text>', text: 'Hola' };
    const message = { ...draftFrom(aTemplate()), locales: { es: { subject: 'Hola', ...written } } };
    const partial = draftAs(message, { kind: 'partial' });
    expect(partial.locales).toEqual({ es: written });
    expect(draftAs(partial, { kind: 'message' }).locales).toEqual({ es: { subject: '', ...written } });
    const both = { ...partial, locales: { es: { html: '<p>Hola</p>', ...written } } };
    expect(draftAs(both, { kind: 'layout' }).locales).toEqual(both.locales);
    expect(draftAs(both, { kind: 'message' }).locales).toEqual({ es: { subject: '', ...written } });
    const plain = { ...partial, locales: { es: { text: 'Hola', html: '' } } };
    expect(draftAs(plain, { kind: 'message' }).locales).toEqual({
      es: { subject: '', html: '', text: 'Hola' },
    });
    expect(draftAs(message, { channel: 'sms' }).locales).toEqual({ es: { text: 'Hola' } });
  });

  it('that any language has are what others can take of it', () => {
    const locales = { es: { text: 'a', html: 'a' }, en: { mjml: 'a' } };
    expect(partsIn({ locales })).toEqual(['html', 'mjml', 'text']);
  });
});

describe('a change of the contents', () => {
  it('says what has gone, that a merge would leave', () => {
    const stored = { es: { subject: 'a', html: 'b', text: 'c' }, en: { subject: 'd', html: 'e' } };
    expect(localesPatch(stored, { es: { subject: 'a', html: 'x' } })).toEqual({
      es: { subject: 'a', html: 'x', text: null },
      en: null,
    });
    expect(localesPatch({}, { es: { html: 'b' } })).toEqual({ es: { html: 'b' } });
  });
});

describe('the tag of a partial', () => {
  it.each([
    ['Pie', "{% render 'Pie' %}"],
    ["L'Oréal", `{% render "L'Oréal" %}`],
    [`L'"Oréal"`, undefined],
    ['50 %', undefined],
    ['{{ data }}', undefined],
  ])('%s', (name, tag) => {
    expect(renderTag(name)).toBe(tag);
  });
});

describe('a use', () => {
  it('is outdated where another version is published, not where none is', () => {
    expect([1, 2].map((version) => using('a', 'message', version).uses.every(isOutdated))).toEqual([
      true,
      false,
    ]);
    expect(using('a', 'message', 1, null).uses.some(isOutdated)).toBe(false);
  });

  it('is renewed in partials first, then in layouts, and not where it is the newest', () => {
    const users = [
      using('message', 'message', 1),
      using('new', 'message', 2),
      using('layout', 'layout', 1),
      using('partial', 'partial', 1),
    ];
    expect(toRenew(users, 'footer').map(({ id }) => id)).toEqual(['partial', 'layout', 'message']);
    expect(toRenew(users, 'another')).toEqual([]);
    const renewed = users.slice(1, 2);
    expect(mayHoldOlder({ items: users, hasMore: false }, 'footer')).toBe(true);
    expect(mayHoldOlder({ items: renewed, hasMore: false }, 'footer')).toBe(false);
    expect(mayHoldOlder({ items: renewed, hasMore: true }, 'footer')).toBe(true);
  });
});
