import { UNKNOWN_PROFILE } from '../../vocabulary/contacts/contact.js';
import { tenantsOf } from '../../background/organizations/tenants.fixture.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import { Renderer } from '../../content/rendering/renderer.js';
import { MessageRendering } from '../../content/templates/message-rendering.js';
import { sourcesOf } from '../../vocabulary/templates/template-content.js';
import { completeData } from '../../vocabulary/templates/template-data.js';
import type { TemplateVersion } from '../../content/templates/template-versions.js';
import { warningsOf, type TemplateWarning } from './template-warnings.js';

const URL = 'https://u.example/?token=preview';
const END = `<a href="{{ unsubscribe_url }}">x</a>`;

let renderer: Renderer;
beforeAll(async () => {
  renderer = new Renderer(await tenantsOf());
});
afterAll(() => renderer.onApplicationShutdown());

interface Given {
  parts: Record<string, string>;
  data?: Record<string, unknown>;
  variables?: TemplateVersion['variables'];
  contact?: typeof UNKNOWN_PROFILE;
  segments?: number;
}

async function warnings(given: Given): Promise<TemplateWarning[]> {
  const version: TemplateVersion = {
    templateId: 'a',
    version: 1,
    channel: given.segments === undefined ? 'email' : 'sms',
    defaultLocale: 'es',
    variables: given.variables ?? {},
    strict: false,
    parts: { es: sourcesOf(given.parts) },
  };
  const { data } = completeData(version.variables, given.data ?? {});
  const { contact } = given;
  const message = await new MessageRendering(renderer).render({
    organizationId: 'shop',
    template: version,
    channel: version.channel,
    data,
    locale: null,
    contact,
    withholdsContact: false,
    event: null,
    unsubscribeUrl: URL,
    purpose: 'preview',
  });
  const review = await renderer
    .review('shop', message.sources, message.parts['html'] ?? null)
    .catch((error: unknown) => {
      if (error instanceof RenderFailure) return undefined;
      throw error;
    });
  const segments = given.segments ?? null;
  return warningsOf({ version, data, contact, message, segments, unsubscribeUrl: URL, review });
}

const ofMail = (html: string, subject = 'Hola'): Promise<TemplateWarning[]> =>
  warnings({ parts: { subject, html: html + END } });

describe('warningsOf', () => {
  it('has nothing to say about a mail that nobody stumbles over', async () => {
    const html =
      '<p><img src="https://a.example/x.png" alt="Shop"> <a href="https://a.example">a</a> <a href="mailto:a@b.example">b</a>' +
      '<a href="tel:+56">c</a><a href="#top">d</a><a href="https://a.example"><img alt="" src="x"> Shop</a></p>';
    expect(await ofMail(html)).toEqual([]);
  });

  it.each([
    ['<p>\n<img src="https://a.example/x.png"></p>', 'image_without_alt', 2],
    ['<a href="https://a.example"><img src="x" alt=""></a>', 'image_without_alt', 1],
    ['\n\n<a href="http://a.example">a</a>', 'link_not_https', 3],
    ['<a href="HTTP&#58;//a.example">a</a>', 'link_not_https', 1],
    ['<a href="/page">a</a>', 'link_not_https', 1],
    ['<a href="">a</a>', 'link_not_https', 1],
    ['<map><area href="javascript:alert(1)"></map>', 'link_not_https', 1],
  ])('%j', async (html, code, line) => {
    expect(await ofMail(html)).toMatchObject([{ code, where: { part: 'html', line } }]);
  });

  it('names what Gmail cuts, by the bytes of what was rendered', async () => {
    const ofBytes = (bytes: number) => ofMail('a'.repeat(bytes - `<a href="${URL}">x</a>`.length));
    expect(await ofBytes(102_400)).toEqual([]);
    expect(await ofBytes(102_401)).toMatchObject([{ code: 'html_clipped', where: { part: 'html' } }]);
  });

  it.each([
    ['{{ data.none }}', ['missing_data', 'subject_empty']],
    ['a'.repeat(78), []],
    ['a'.repeat(79), ['subject_long']],
  ])('of the subject %s: %j', async (subject, codes) => {
    const found = await warnings({
      parts: { subject, html: END },
      variables: { none: { type: 'string', required: false } },
    });
    expect(found.map(({ code }) => code)).toEqual(codes);
  });

  it('says that the unsubscribe link is added where there is none', async () => {
    expect(await warnings({ parts: { subject: 'a', html: 'b' } })).toMatchObject([
      { code: 'unsubscribe_link_added', where: null },
    ]);
  });

  it('tells what is not known from what has no value', async () => {
    const html = `{{ data.a }} {{ data.b.c }} {{ data.given.x }} {{ dta.a }} {{ contact.firstname }} {{ contact.first_name }}
      {% for i in data.list %}{{ i.x }}{% endfor %} {{ data.list.size }} {{ data.d }} {% assign own = 1 %}{{ own }} ${END}`;
    const found = await warnings({
      parts: { subject: 'a', html },
      data: { given: {}, list: [1] },
      variables: {
        b: { type: 'object', required: false },
        d: { type: 'string', required: false, default: 'x' },
      },
      contact: UNKNOWN_PROFILE,
    });
    expect(found.map(({ code, detail }) => [code, detail.split('`')[1]])).toEqual([
      ['missing_data', 'data.b.c'],
      ['missing_data', 'data.given.x'],
      ['missing_data', 'contact.first_name'],
      ['unknown_variable', 'data.a'],
      ['unknown_variable', 'dta.a'],
      ['unknown_variable', 'contact.firstname'],
    ]);
  });

  it('takes the word of a loop that goes on for no name', async () => {
    const loop =
      '{% for a in data.list limit: 1 %}{{ a }}{% endfor %}{% for a in data.list offset: continue %}{{ a }}{% endfor %}';
    const parts = { subject: 'a', html: `<p>${loop}</p>${END}` };
    expect(await warnings({ parts, data: { list: [1, 2] } })).toEqual([]);
    const read = { ...parts, subject: 'a {{ continue }}' };
    expect(await warnings({ parts: read, data: { list: [1, 2] } })).toMatchObject([
      { code: 'unknown_variable', where: { part: 'subject' } },
    ]);
  });

  it('counts the messages of a long SMS', async () => {
    expect(await warnings({ parts: { text: 'a' }, segments: 3 })).toEqual([]);
    expect(await warnings({ parts: { text: 'a' }, segments: 4 })).toMatchObject([
      { code: 'sms_many_segments' },
    ]);
  });

  it('says ten of a kind and how many more there are', async () => {
    const found = await ofMail('<img src="x">'.repeat(50));
    expect(found).toHaveLength(11);
    expect(found.at(-1)).toEqual({
      code: 'image_without_alt',
      detail: 'The same 40 times more.',
      where: null,
    });
  });

  it.each([
    ['<b>', 150_000],
    ['<a href="x"><img alt="">', 15_000],
    ['<', 400_000],
    ['&', 400_000],
    ['<img', 100_000],
    ['<!--', 100_000],
  ])('ends with %s, as many as a message has room for', async (piece, times) => {
    const found = await warnings({
      parts: { subject: 'a', html: `{% for i in data.list %}${piece.repeat(100)}{% endfor %}` },
      data: { list: Array.from({ length: times / 100 }, () => 1) },
    });
    expect(found.length).toBeLessThan(40);
  });
});
