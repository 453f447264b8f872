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
});
