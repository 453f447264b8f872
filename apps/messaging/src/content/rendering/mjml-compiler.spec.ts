import { tenantsOf } from '../../background/organizations/tenants.fixture.js';
import { MjmlCompiler } from './mjml-compiler.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';

const document = (body: string, head = ''): string =>
  `<mjml>\n<mj-head>${head}</mj-head>\n<mj-body>${body}</mj-body>\n</mjml>`;
const text = (content: string): string =>
  document(`<mj-section><mj-column><mj-text>${content}</mj-text></mj-column></mj-section>`);

describe('MjmlCompiler', () => {
  let compiler: MjmlCompiler;
  beforeAll(async () => {
    compiler = new MjmlCompiler(await tenantsOf());
  });
  afterAll(() => compiler.onApplicationShutdown());

  async function failure(mjml: string): Promise<RenderFailure['reason']> {
    const error: unknown = await compiler.compile('shop', mjml).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof RenderFailure)) throw new Error('nothing failed');
    return error.reason;
  }

  it('makes HTML that fetches nothing', async () => {
    const html = await compiler.compile('shop', text('Hola'));
    expect(html).toContain('<!doctype html>');
    expect(html).toContain('Hola');
    expect(html).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
    expect(html).not.toContain('<mj-');
  });

  it.each([
    text('{% if data.n < 3 %}{{ data["a"] | default: "x" }}{% endif %}'),
    document(
      '<mj-section><mj-column><mj-button href="{{ data.url | default: \'#\' }}">a</mj-button></mj-column></mj-section>',
    ),
    document(
      '<mj-raw>{% for i in data.list %}</mj-raw><mj-section background-color="{{ i.color }}"></mj-section><mj-raw>{% endfor %}</mj-raw>',
    ),
    document(
      '<mj-section><mj-column><mj-table>{% for i in data.list %}<tr><td>{{ i }}</td></tr>{% endfor %}</mj-table></mj-column></mj-section>',
    ),
    document(
      '<mj-section><mj-column><mj-text css-class="x">{% if data.a < 3 %}{{ data["b"] }}{% endif %}</mj-text></mj-column></mj-section>',
      '<mj-style inline="inline">.x { color: red }</mj-style>',
    ),
  ])('keeps every character of the liquid in %s', async (mjml) => {
    const LIQUID = /\{\{.*?\}\}|\{%.*?%\}/gs;
    const html = await compiler.compile('shop', mjml);
    expect(new Set(html.match(LIQUID))).toEqual(new Set(mjml.match(LIQUID)));
  });

  it('leaves out comments, whatever they hold', async () => {
    const html = await compiler.compile('shop', text('a<!-- {{ data.gone }} <mj-include path="a" /> -->b'));
    expect(html).not.toContain('gone');
  });

  it.each([
    [document('\n<mj-section><mj-foo /></mj-section>'), /^Line 4: .*mj-foo/],
    [document('\n<mj-text>a</mj-text>'), /^Line 4: mj-text cannot be used inside mj-body/],
    [document('<mj-section colour="red" />'), /^Line 3: Attribute colour is illegal/],
    [document('<mj-section padding="{{ data.p }}" />'), /^Line 3: .*\{\{ data\.p \}\}/],
    [document('<mj-include path="/etc/passwd" type="html" />'), /^Line 3: `mj-include` is not possible/],
    [document('<mj-raw><script>alert(1)</script></mj-raw>'), /^Line 3: A script/],
    [document('{% if data.a %}<mj-section />{% endif %}'), /leaves out `\{% if data\.a %\}`/],
    ['<p>no MJML</p>', /Malformed MJML/],
    [document('<mj-wrapper>'.repeat(5_000) + '</mj-wrapper>'.repeat(5_000)), /nested too deep/],
  ])('template_invalid with what is wrong and where: %.80s', async (mjml, detail) => {
    expect(await failure(mjml)).toMatchObject({
      code: 'template_invalid',
      part: 'mjml',
      detail: expect.stringMatching(detail) as string,
    });
  });

  it('stops what grows without end, and compiles the next one', async () => {
    const huge = document(
      '<mj-section><mj-column><mj-text>a</mj-text></mj-column></mj-section>'.repeat(3_500),
    );
    const [reason, html] = await Promise.all([failure(huge), compiler.compile('shop', text('neighbour'))]);
    expect(reason.code).toBe('render_limit_exceeded');
    expect(html).toContain('neighbour');
  });
});
