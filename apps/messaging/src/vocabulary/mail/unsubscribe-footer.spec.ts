import { withUnsubscribeLink } from './unsubscribe-footer.js';

const URL = 'https://example.com/out';
const within = (html: string) => withUnsubscribeLink({ html, text: 'x' }, URL, 'tr').html ?? '';

describe('withUnsubscribeLink', () => {
  it.each(['</body>', '</BODY>', '</body >'])(
    'puts the link before the last %s, whatever letters stand before it',
    (end) => {
      const html = within(`<html><body><pre></body></pre><p>${'İSTANBUL '.repeat(20)}</p>${end}</html>`);
      expect(html).toMatch(
        / <\/p><p style="[^"]*"><a href="https:\/\/example\.com\/out">Unsubscribe<\/a><\/p>\n<\/body/i,
      );
      expect(html.endsWith(`${end}</html>`)).toBe(true);
    },
  );

  it('adds it at the end where no body is closed', () => {
    expect(within('<p>İ</p>')).toMatch(/^<p>İ<\/p>\n<p .*<\/p>$/);
  });
});
