import { plainTextOf } from './plain-text.js';

describe('plainTextOf', () => {
  it.each([
    ['<p>One</p><p>Two<br>Three</p>', 'One\n\nTwo\nThree'],
    ['<style>p { color: red }</style><title>t</title><p>Only  this\n text</p>', 'Only this text'],
    ['<ul><li>a</li><li>b</li></ul>after', '- a\n- b\n\nafter'],
    ['<table><tr><td>Total</td><td>5</td></tr><tr><td>Tax</td><td>1</td></tr></table>', 'Total 5\nTax 1'],
    ['<a href="https://a.example/">https://a.example/</a>', 'https://a.example/'],
    ['<a href="mailto:a@b.example">a@b.example</a>', 'a@b.example'],
    ['<a href="#top">Top</a>', 'Top'],
    ['<a href="https://a.example"><img alt="Shop" src="x"></a>', 'Shop (https://a.example)'],
    ['a&nbsp;&amp;&eacute;', 'a\u00a0&é'],
    ['{% if data.a < data.b %}<b>less</b>{% endif %}', '{% if data.a < data.b %}less{% endif %}'],
    ['<td {% if x %}class="a"{% endif %}>x</td>', 'x'],
    ['&#123;&#123; data.secret }}', '{{ "{" }}{ data.secret }}'],
    ['<pre>a\n  b</pre>', 'a\n  b'],
    ['<p>one</p><hr><p>two</p>', 'one\n\n---\n\ntwo'],
  ])('%s', (html, expected) => {
    expect(plainTextOf(html)).toBe(expected);
  });

  it.each([
    ['paragraphs that nothing ends', '<p>a', 60_000, /^a(\n\na)+$/],
    ['cells', '<td>a', 50_000, /^a( a)+$/],
    ['signs that open no tag', '<', 250_000, /^<+$/],
    ['links in links', '<a href="x">b', 18_000, /^b( \(x\)b)*/],
    ['breaks', '<br><div>', 25_000, /^$/],
  ])('ends with %s, as many as a source has room for', (_name, piece, times, expected) => {
    // Each of them once took the time of its square: more than the process is left.
    expect(expected.test(plainTextOf(piece.repeat(times)))).toBe(true);
  });

  it('keeps what stands before a long text, and the label of a link that is one', () => {
    const long = 'palabra '.repeat(2_000).trim();
    expect(plainTextOf(`<p>One</p><p>${long}</p><p>Two</p>`)).toBe(`One\n\n${long}\n\nTwo`);
    expect(plainTextOf(`<a href="https://a.example">${long}</a>`)).toBe(`${long} (https://a.example)`);
  });
});
