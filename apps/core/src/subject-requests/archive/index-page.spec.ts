import { indexPage } from './index-page.js';

const HEAD = { portable: false, requestId: 'r-1', madeAt: new Date('2026-11-23T10:00:00.000Z') };
const page = (first: Record<string, unknown>[], locale: 'es' | 'en' = 'es'): string =>
  [...indexPage({ ...HEAD, locale }, [{ module: 'core', resource: 'contacts', rows: 25, first }])].join('');

it('shows what others wrote as text alone', () => {
  const html = page([
    { first_name: `</td><script>alert("1")</script>`, attributes: { a: `<img src=x onerror='x'>` } },
  ]);
  expect(html).not.toMatch(/<script|<img/);
  expect(html).toContain('&lt;/td&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  expect(html).toContain(`content="default-src &#39;none&#39;`);
});

it('speaks the language of the request, leads to the files and says what it leaves out', () => {
  expect(page([{ a: 1 }])).toContain('<html lang="es">');
  expect(page([{ a: 1 }])).toContain('Filas: 25. Completo en <a href="core/contacts.json">JSON</a>');
  expect(page([{ a: 1 }], 'en')).toMatch(/<title>Your data<\/title>[^]*These are the first 1\./);
});

it('says that there is nothing', () => {
  expect([...indexPage({ ...HEAD, locale: 'en' }, [])].join('')).toContain('<p>Nothing.</p>');
});
