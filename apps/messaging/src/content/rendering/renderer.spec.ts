import { tenantsOf } from '../../background/organizations/tenants.fixture.js';
import type { PartMode, RenderScope } from '../../vocabulary/rendering/render-job.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import { Renderer } from './renderer.js';

const SCOPE: RenderScope = {
  data: { name: 'Ana <b>', list: ['a', 'b'], nothing: null, crlf: 'x\r\nBcc: evil@example.com' },
  contact: { id: null, email: 'ana@example.com', first_name: null, attributes: { plan: 'pro' } },
  event: { properties: { amount: 12990 } },
  unsubscribe_url: null,
};

describe('Renderer', () => {
  let renderer: Renderer;
  beforeAll(async () => {
    renderer = new Renderer(await tenantsOf());
  });
  afterAll(() => renderer.onApplicationShutdown());

  async function render(source: string, mode: PartMode = 'text', strict = true): Promise<string> {
    return (await renderer.render('shop', [{ name: 'part', mode, source }], SCOPE, strict)).part ?? '';
  }

  async function failure(run: Promise<unknown>): Promise<RenderFailure['reason']> {
    const error: unknown = await run.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof RenderFailure)) throw new Error('nothing failed');
    return error.reason;
  }

  describe('what a template reads', () => {
    it('reads data, contact and event', async () => {
      await expect(
        render('{{ data.name }} {{ contact.attributes.plan }} {{ event.properties.amount }}'),
      ).resolves.toBe('Ana <b> pro 12990');
    });

    it('prints a known field without a value as nothing, also in strict mode', async () => {
      await expect(render('[{{ contact.first_name }}]')).resolves.toBe('[]');
    });

    it('fails on an undefined variable in strict mode only', async () => {
      expect(await failure(render('{{ data.nmae }}'))).toMatchObject({ code: 'render_failed', part: 'part' });
      await expect(render('[{{ data.nmae }}]', 'text', false)).resolves.toBe('[]');
    });

    it('lets a strict template ask whether something is there', async () => {
      await expect(
        render('{% if data.vip %}VIP{% endif %}{{ data.nick | default: "friend" }}'),
      ).resolves.toBe('friend');
    });

    it.each([
      '{{ data.constructor }}',
      '{{ data.__proto__ }}',
      '{{ data.name.constructor }}',
      '{{ data.list.map }}',
      '{{ data.toString }}',
      '{{ contact.hasOwnProperty }}',
      '{{ constructor.constructor }}',
      '{{ process.env }}',
      '{{ globalThis }}',
    ])('finds nothing behind %s', async (source) => {
      expect((await failure(render(source))).code).toBe('render_failed');
      await expect(render(source, 'text', false)).resolves.toBe('');
    });

    it('formats dates in UTC whatever the machine', async () => {
      await expect(render('{{ "2026-11-21T23:30:00-03:00" | date: "%Y-%m-%d %H:%M" }}')).resolves.toBe(
        '2026-11-22 02:30',
      );
    });

    it.each([
      [
        'es-CL',
        'America/Santiago',
        '2026-03-01T01:30:00Z',
        '%-d de %B, %A %H:%M %z',
        '28 de febrero, sábado 22:30 -0300',
      ],
      ['de', 'Asia/Tokyo', '2026-12-31T20:00:00Z', '%d. %B %Y', '01. Januar 2027'],
      ['fr', 'Europe/Paris', 1_772_325_000, '%a %d %b', 'dim. 01 mars'],
      // A day is that day wherever it is read, and so is a time that names no zone.
      ['es', 'America/Santiago', '2026-05-04', '%-d de %B', '4 de mayo'],
      ['es', 'Pacific/Auckland', '2026-05-04 23:15', '%-d de %B %H:%M', '4 de mayo 23:15'],
      // The days are those of the Gregorian calendar, and so are the months, whatever is usual in the language.
      ['fa', 'UTC', '2026-05-04', '%-d %B', '4 مه'],
      ['ar-SA', 'UTC', '2026-05-04', '%-d %B', '4 مايو'],
      ['es-u-ca-islamic', 'UTC', '2026-05-04', '%-d de %B', '4 de mayo'],
      [null, null, '2026-05-04T10:00:00+02:00', '%B %H:%M', 'May 08:00'],
      ['no language', 'Nowhere/Town', '2026-05-04T10:00:00Z', '%B %H:%M', 'May 10:00'],
      ['es', 'UTC', 'someday', '%B', 'someday'],
    ])('writes a date in %s and %s: %s', async (locale, timezone, at, format, expected) => {
      const scope = { ...SCOPE, data: { at }, dates: { locale, timezone } };
      const source = `{{ data.at | date: "${format}" }}`;
      const parts = (['text', 'html', 'line'] as const).map((mode) => ({ name: mode, mode, source }));
      const rendered = await renderer.render('shop', parts, scope, true);
      expect(rendered).toEqual({ text: expected, html: expected, line: expected });
    });

    it('writes the other dates of Liquid so, and each message in its own', async () => {
      const source =
        '{{ data.at | date_to_long_string }}|{{ data.at | date_to_string }}|{{ data.at | date_to_xmlschema }}|{{ dates }}';
      const write = async (dates?: RenderScope['dates']): Promise<string | undefined> => {
        const scope = { ...SCOPE, data: { at: '2026-01-01T01:00:00Z' }, ...(dates ? { dates } : {}) };
        return (await renderer.render('shop', [{ name: 'part', mode: 'text', source }], scope, false)).part;
      };
      expect(await write({ locale: 'pt', timezone: 'America/Bogota' })).toBe(
        '31 dezembro 2025|31 dez. 2025|2025-12-31T20:00:00-05:00|',
      );
      expect(await write()).toBe('01 January 2026|01 Jan 2026|2026-01-01T01:00:00+00:00|');
    });
  });

  describe('escaping', () => {
    it.each([
      ['{% capture x %}{% endcapture %}{{ x | default: "none" }}', 'none'],
      [
        '{% capture x %}<i>{{ data.name }}</i>{% endcapture %}{{ x | default: "none" }}',
        '<i>Ana &lt;b&gt;</i>',
      ],
      ['{% capture x %}{% endcapture %}{% if x == "" %}empty{% endif %}', 'empty'],
      ['{{ data.nothing | default: data.name }}', 'Ana &lt;b&gt;'],
      ['{{ data.nothing | default: false, allow_false: true }}', 'false'],
    ])('takes what was captured for a text: %s', async (source, expected) => {
      await expect(render(source, 'html')).resolves.toBe(expected);
    });

    it('escapes values in HTML and leaves those of text alone', async () => {
      await expect(render('<p>{{ data.name }}</p>', 'html')).resolves.toBe('<p>Ana &lt;b&gt;</p>');
      await expect(render('{{ data.name }}', 'text')).resolves.toBe('Ana <b>');
    });

    it.each([
      ['{{ data.name | escape }}', 'Ana &lt;b&gt;'],
      ['{{ data.name | escape_once }}', 'Ana &lt;b&gt;'],
      ['{{ "Café &amp; Té & <i>" | escape_once }}', 'Café &amp; Té &amp; &lt;i&gt;'],
      ['{{ "&amp;lt;b" | escape_once }}', '&amp;lt;b'],
      ['[{{ nil }}][{{ data.nothing | default: nil }}][{{ empty }}][{{ blank }}]', '[][][][]'],
      ['{% capture x %}<i>{{ data.name }}</i>{% endcapture %}{{ x }}', '<i>Ana &lt;b&gt;</i>'],
      ['{% assign x = "<i>" | append: data.name %}{{ x }}', '&lt;i&gt;Ana &lt;b&gt;'],
      ['{% echo data.name %}', 'Ana &lt;b&gt;'],
      ['{% cycle data.name, "x" %}', 'Ana &lt;b&gt;'],
      ['{% liquid echo data.name %}', 'Ana &lt;b&gt;'],
      ['{{ "a<\n" | append: data.name | newline_to_br }}', 'a&lt;<br>\nAna &lt;b&gt;'],
      ['{{ data.name | newline_to_br | append: data.name }}', 'Ana &amp;lt;b&amp;gt;Ana &lt;b&gt;'],
    ])('lets no value through unescaped: %s', async (source, expected) => {
      await expect(render(source, 'html')).resolves.toBe(expected);
    });

    it.each([
      '{{ data.name | raw }}',
      '{% raw %}{{ x }}{% endraw %}',
      '{% include "x" %}',
      '{% render "x" %}',
      '{% layout "x" %}',
      '{% block x %}{% endblock %}',
      '{{ data.name | nosuch }}',
      '{% nosuch %}',
      '{{ data.name',
      '{% if %}{% endif',
      '{% for a in b %}',
    ])('does not take %s', async (source) => {
      const reason = await failure(renderer.check('shop', [{ name: 'html', mode: 'html', source }]));
      expect(reason).toMatchObject({ code: 'template_invalid', part: 'html' });
      expect(reason.detail).not.toContain('/');
    });

    it('keeps a header on one line', async () => {
      await expect(render('Hola {{ data.crlf }}\r\nX: y', 'line')).resolves.toBe(
        'Hola x Bcc: evil@example.com X: y',
      );
    });
  });

  describe('limits', () => {
    const hostile: [string, string][] = [
      [
        'an endless loop',
        '{% for a in (1..9999) %}{% for b in (1..9999) %}{% for c in (1..9999) %}{% assign x = a %}{% endfor %}{% endfor %}{% endfor %}',
      ],
      ['a huge range', '{% for a in (1..999999999) %}x{% endfor %}'],
      [
        'a doubling string',
        `{% assign x = "0123456789" %}${'{% assign x = x | append: x %}'.repeat(40)}{{ x }}`,
      ],
      [
        'a doubling list',
        `{% assign x = "a,b" | split: "," %}${'{% assign x = x | concat: x %}'.repeat(40)}{{ x | size }}`,
      ],
      ['a padding bomb', '{{ "x" | date: "%1000000000Y" }}{{ "2026-01-01" | date: "%999999999d" }}'],
      ['an output that grows', '{% for a in (1..60000) %}0123456789{% endfor %}'],
      [
        'captures that double',
        `{% capture x %}0123456789{% endcapture %}${'{% capture x %}{{ x }}{{ x }}{% endcapture %}'.repeat(40)}`,
      ],
    ];

    it.each(hostile)('ends %s', async (_case, source) => {
      const reason = await failure(render(source, 'html', false));
      expect(reason.code).toBe('render_limit_exceeded');
    });

    it('renders the neighbours of a hostile template', async () => {
      const runs = hostile.flatMap(([, source], index) => [
        failure(render(source, 'html', false)).then((reason) => reason.code),
        render(`neighbour ${index}`, 'text'),
      ]);
      const results = await Promise.all(runs);
      results.forEach((result, index) =>
        expect(result).toBe(index % 2 === 0 ? 'render_limit_exceeded' : `neighbour ${(index - 1) / 2}`),
      );
    });

    it('counts the whole message against 512 KiB', async () => {
      const parts = ['a', 'b'].map((name) => ({
        name,
        mode: 'text' as const,
        source: 'x'.repeat(300 * 1024),
      }));
      expect(await failure(renderer.render('shop', parts, SCOPE, true))).toMatchObject({
        code: 'render_limit_exceeded',
        part: 'b',
      });
    });
  });

  it('derives a text part whose liquid is still liquid', async () => {
    const text = await renderer.deriveText(
      'shop',
      '<h1>Hi {{ data.name }}</h1><p>See <a href="{{ data.url }}">your order</a>.</p>',
    );
    expect(text).toBe('Hi {{ data.name }}\n\nSee your order ({{ data.url }}).');
  });
});
