import { tenantsOf } from '../../background/organizations/tenants.fixture.js';
import {
  BOMBS,
  MALFORMED,
  POLLUTIONS,
  PROTOTYPE_FILTERS,
  PROTOTYPES,
  TOO_DEEP,
} from './hostile-templates.fixture.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import type { PartMode, RenderScope } from '../../vocabulary/rendering/render-job.js';
import { Renderer } from './renderer.js';

const SCRIPT = `"><script>alert('x')</script><a href='javascript:y' onclick="z">&`;
const SCOPE: RenderScope = {
  data: {
    html: SCRIPT,
    list: ['a', 'b'],
    people: [{ name: 'Ana' }, { name: 'Bea' }],
    // As JSON brings it: a field of its own by that name.
    evil: JSON.parse('{"__proto__": {"polluted": "yes"}, "constructor": {"prototype": {"polluted": "yes"}}}'),
  },
  contact: { id: null, first_name: SCRIPT, attributes: { plan: 'pro' } },
  event: { properties: { amount: 12990 } },
  unsubscribe_url: 'https://shop.example/u?token=a&b=c',
};
const NEIGHBOURS = 3;

let renderer: Renderer;
beforeAll(async () => {
  renderer = new Renderer(await tenantsOf());
});
afterAll(() => renderer.onApplicationShutdown());

async function render(source: string, mode: PartMode = 'html', strict = false): Promise<string> {
  return (await renderer.render('shop', [{ name: 'part', mode, source }], SCOPE, strict)).part ?? '';
}

async function codeOf(run: Promise<unknown>): Promise<string> {
  const ended = await run.then(
    (text) => `rendered ${JSON.stringify(text).slice(0, 80)}`,
    (error: unknown) => error,
  );
  if (typeof ended === 'string') return ended;
  if (!(ended instanceof RenderFailure)) throw ended;
  expect(ended.reason.detail).toMatch(/^[^\n]{10,300}$/);
  return ended.reason.code;
}

describe('hostile templates', () => {
  it('end within the limits, all at once, while every neighbour in the same processes renders on', async () => {
    const hostile = [...BOMBS, ...MALFORMED];
    const runs = hostile.map(async ({ name, source }, at) => {
      const neighbours = Array.from({ length: NEIGHBOURS }, (_, one) =>
        render(`Hola {{ data.people[${one % 2}].name }}, ${at}`, 'text', true),
      );
      const code = await codeOf(render(source));
      return { name, code, neighbours: await Promise.all(neighbours) };
    });
    expect(await Promise.all(runs)).toEqual(
      hostile.map(({ name, code }, at) => ({
        name,
        code,
        neighbours: [`Hola Ana, ${at}`, `Hola Bea, ${at}`, `Hola Ana, ${at}`],
      })),
    );
  }, 120_000);

  it.each(MALFORMED)('are refused when they are saved: $name', async ({ source, code }) => {
    expect(await codeOf(renderer.check('shop', [{ name: 'html', mode: 'html', source }]))).toBe(code);
  });

  it('end where they are nested too deep, by the stack or by the clock, whichever is first', async () => {
    expect(['template_invalid', 'render_limit_exceeded']).toContain(await codeOf(render(TOO_DEEP)));
    expect(await render('{{ data.people[0].name }}')).toBe('Ana');
  });

  it.each(PROTOTYPES)('find nothing behind %s', async (source) => {
    expect(await codeOf(render(source, 'text', true))).toBe('render_failed');
    expect(await render(`[${source}]`, 'text')).toBe('[]');
  });

  it.each(PROTOTYPE_FILTERS)('find nothing by %s', async (source) => {
    expect(await render(`[${source}]`, 'text')).toBe('[]');
  });

  it('leave nothing behind for who is rendered next', async () => {
    const probe =
      '[{{ polluted }}{{ data.polluted }}{{ contact.polluted }}{{ data.list.polluted }}]{{ data.people[0].name | upcase }}';
    for (const source of POLLUTIONS) {
      const before = await codeOf(render(source, 'text'));
      expect(before).not.toContain('yes');
      // Both processes are asked, whichever of them it was.
      const after = await Promise.all(Array.from({ length: 20 }, () => render(probe, 'text')));
      expect(new Set(after)).toEqual(new Set(['[]ANA']));
    }
  });
});

describe('values that mean harm', () => {
  const escaped =
    '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&lt;a href=&#39;javascript:y&#39; onclick=&quot;z&quot;&gt;&amp;';

  it.each([
    ['as text', '<p>{{ data.html }}</p>', `<p>${escaped}</p>`],
    ['in an attribute', '<img alt="{{ data.html }}">', `<img alt="${escaped}">`],
    ['in an attribute of single quotes', "<img alt='{{ data.html }}'>", `<img alt='${escaped}'>`],
    ['as a URL', '<a href="{{ data.html }}">x</a>', `<a href="${escaped}">x</a>`],
    ['of the contact', '{{ contact.first_name }}', escaped],
    ['out of a loop', '{% for p in data.html %}{{ p }}{% endfor %}', escaped],
    ['by default', '{{ data.nothing | default: data.html }}', escaped],
    ['assigned', '{% assign x = data.html %}{{ x }}', escaped],
    ['captured', '{% capture x %}{{ data.html }}{% endcapture %}{{ x }}', escaped],
    ['in a list', '{{ data.html | split: "~" | join: "" }}', escaped],
    ['decoded again', '{{ data.html | url_encode | url_decode }}', escaped],
    ['out of base 64', '{{ data.html | base64_encode | base64_decode }}', escaped],
    [
      'in a table',
      '{% tablerow a in data.list limit: 1 %}{{ data.html }}{% endtablerow %}',
      expect.stringContaining(escaped),
    ],
  ])('are escaped in HTML %s', async (_where, source, expected) => {
    expect(await render(source)).toEqual(expected);
  });

  it.each([
    ['CR LF', '\r\n'],
    ['LF', '\n'],
    ['CR', '\r'],
    ['a folded line', '\r\n '],
    ['NEL', '\u0085'],
    ['a line separator', '\u2028'],
    ['a paragraph separator', '\u2029'],
    ['a vertical tab', '\v'],
    ['a form feed', '\f'],
    ['NUL', '\0'],
  ])('begin no header with %s', async (_name, separator) => {
    const scope = { ...SCOPE, data: { name: `Ana${separator}Bcc: evil@example.com` } };
    const parts = [
      { name: 'value', mode: 'line' as const, source: 'Hola {{ data.name }}' },
      { name: 'source', mode: 'line' as const, source: `Hola Ana${separator}Bcc: evil@example.com` },
      {
        name: 'captured',
        mode: 'line' as const,
        source: '{% capture x %}Hola {{ data.name }}{% endcapture %}{{ x }}',
      },
    ];
    const rendered = await renderer.render('shop', parts, scope, true);
    for (const text of Object.values(rendered))
      expect(text).toMatch(/^Hola Ana {1,2}Bcc: evil@example\.com$/);
  });
});
