import PostalMime, { type Email } from 'postal-mime';
import { composeMail, type MailParts } from './mail.js';

const PARTS: MailParts = {
  from: { name: 'Zapatería "Ñandú", Ltda.', address: 'hola@shop.example' },
  replyTo: 'ayuda@shop.example',
  to: 'Ana+news@xn--bcher-kva.example',
  subject: 'Tu compra 🎉 — ¡gracias por preferirnos, Ana! Un asunto bastante más largo que una línea',
  html: '<p>Hola <b>Ana</b> ñ</p>',
  text: 'Hola Ana ñ\n.\nuna línea con un punto solo\n',
  messageId: '<0197f6a0-0000-7000-8000-000000000001@shop.example>',
  correlationId: '0197f6a0-0000-7000-8000-000000000002',
  unsubscribeUrl: null,
  date: new Date('2026-11-21T12:00:00.000Z'),
};

async function arrive(parts: Partial<MailParts> = {}): Promise<Email & { raw: string }> {
  const raw = await composeMail({ ...PARTS, ...parts });
  return { ...(await PostalMime.parse(raw)), raw: raw.toString('latin1') };
}

function header(mail: Email, name: string): string | undefined {
  return mail.headers.find(({ key }) => key === name)?.value;
}

describe('composeMail', () => {
  it('keeps every character of subject, sender and both parts', async () => {
    const mail = await arrive();
    expect(mail.subject).toBe(PARTS.subject);
    expect(mail.from).toMatchObject(PARTS.from);
    expect(mail.to).toMatchObject([{ address: PARTS.to, name: '' }]);
    expect(mail.replyTo).toMatchObject([{ address: PARTS.replyTo }]);
    expect(mail.html?.trim()).toBe(PARTS.html);
    expect(mail.text?.trim()).toBe(PARTS.text.trim());
    expect(mail.messageId).toBe(PARTS.messageId);
    expect(header(mail, 'x-correlation-id')).toBe(PARTS.correlationId);
    expect(new Date(mail.date ?? '').toISOString()).toBe('2026-11-21T12:00:00.000Z');
  });

  it.each(['=?utf-8?Q?Ana?= (really)', '=?utf-8?B?=?=', `${'ñ 漢 '.repeat(60)}=?utf-8?Q?x?=`])(
    'takes nothing in a subject for encoded: %s',
    async (subject) => {
      const mail = await arrive({ subject });
      expect(mail.subject).toBe(subject);
      for (const line of mail.raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
    },
  );

  it.each([
    ['a lone CR', 'hola\r.\rMAIL FROM:<jefe@otra.example>\r', 'ascii'],
    ['a lone CR beside letters that are encoded', 'ñandú\r.\rDATA\r', 'ñ'],
    ['every kind of line end', 'a\r\nb\nc\rd\r\r\ne\n\rf', 'mixed'],
    ['lines that become base64', '漢字\r.\r'.repeat(40), 'base64'],
  ])('has no line end of its own making: %s', async (_name, text) => {
    const { raw, text: arrived = '' } = await arrive({ text, html: `<p>${text}</p>` });
    // Whatever is not CR LF, at which a server could see an end that we did not write.
    expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(Buffer.from(arrived).toString('latin1').replaceAll('\r\n', '')).not.toContain('\r');
    expect(raw).not.toMatch(/=0D(?!=0A)/);
  });

  it('is plain ASCII in lines that every server carries', async () => {
    const { raw } = await arrive();
    expect(raw).toMatch(/^[\t\r\n\x20-\x7e]*$/);
    for (const line of raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
    expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('has a text part alone when there is no HTML', async () => {
    const mail = await arrive({ html: undefined });
    expect(mail.html).toBeUndefined();
    expect(mail.text?.trim()).toBe(PARTS.text.trim());
  });

  it('carries both unsubscribe headers with a link, and neither without', async () => {
    const url = `https://shop.example/v1/messaging/unsubscribe?token=${'a'.repeat(180)}`;
    const marketing = await arrive({ unsubscribeUrl: url });
    expect(header(marketing, 'list-unsubscribe')).toBe(`<${url}>`);
    expect(header(marketing, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(header(marketing, 'list-id')).toBe('<marketing.shop.example>');
    const news = await arrive({ unsubscribeUrl: url, topic: 'store_news' });
    expect(header(news, 'list-id')).toBe('<store_news.shop.example>');
    const transactional = await arrive({ topic: 'store_news' });
    expect(header(transactional, 'list-id')).toBeUndefined();
    expect(header(transactional, 'list-unsubscribe')).toBeUndefined();
    expect(header(transactional, 'list-unsubscribe-post')).toBeUndefined();
  });

  it.each([
    ['subject', { subject: 'x\r\nBcc: evil@example.com' }],
    ['sender name', { from: { name: 'x\r\nBcc: evil@example.com', address: 'hola@shop.example' } }],
    ['recipient', { to: 'ana@example.com\r\nBcc: evil@example.com' }],
    ['message id', { messageId: '<x@y>\r\nBcc: evil@example.com' }],
  ])('lets no line break in the %s begin a header', async (_where, parts) => {
    const mail = await arrive(parts);
    expect(header(mail, 'bcc')).toBeUndefined();
  });

  it('treats text that looks like a file or an address as text', async () => {
    const mail = await arrive({ html: 'file:///etc/passwd', text: 'https://example.com/x' });
    expect(mail.html?.trim()).toBe('file:///etc/passwd');
    expect(mail.text?.trim()).toBe('https://example.com/x');
  });
});
