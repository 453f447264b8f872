import { identityMail, type MailFacts } from './identity-mail-texts.js';

const facts: MailFacts = {
  kind: 'password_reset',
  locale: 'es-CL',
  organizationName: 'Tienda',
  link: 'https://platform.example/oauth/password-reset?token=pwr_A',
  expiresAt: new Date('2031-03-05T17:08:00.000Z'),
};

describe('the mail of a password reset', () => {
  it('says until when its link works', () => {
    const { text, html } = identityMail(facts);
    for (const content of [text, html]) {
      expect(content).toContain('Sirve una sola vez y hasta el 5 de marzo de 2031 a las 17:08 UTC.');
      expect(content).toContain(facts.link);
    }
  });

  it('has no link but its own, whatever the organization calls itself', () => {
    const organizationName = 'Payroll: sign in at https://evil.example/now or evil。example';
    const { subject, text, html } = identityMail({ ...facts, organizationName });
    for (const content of [subject, text, html].map((part) => part.replaceAll(String(facts.link), ''))) {
      expect(content).not.toMatch(/https?:\/\/[^"]*evil/);
      expect(content).not.toMatch(/evil[.。]\S/);
    }
  });

  it.each([
    ['en', 'Somebody tries passwords for your account'],
    ['es', 'Alguien prueba contraseñas en tu cuenta'],
  ])('says in %s that somebody tries passwords, with a link to a new one', (locale, subject) => {
    const written = identityMail({ ...facts, kind: 'wrong_passwords', locale });
    expect(written.subject).toBe(subject);
    for (const content of [written.text, written.html]) expect(content).toContain(facts.link);
  });

  it.each([
    ['en', 'You sign in through your organization'],
    ['es', 'Ingresas a través de tu organización'],
  ])('says in %s, without a link, that there is no password', (locale, subject) => {
    const written = identityMail({ ...facts, kind: 'single_sign_on', locale, link: null });
    expect(written.subject).toBe(subject);
    for (const content of [written.text, written.html]) {
      expect(content).toContain('Tienda');
      expect(content).not.toMatch(/https?:|href|button|undefined|null/i);
    }
  });
});

describe('the mail about a change of an account', () => {
  const CHANGES = [
    ['password_changed', 'Your password was changed', 'Tu contraseña cambió'],
    [
      'factor_confirmed',
      'A second factor was added to your account',
      'Se agregó un segundo factor a tu cuenta',
    ],
    [
      'factor_removed',
      'A second factor was removed from your account',
      'Se quitó un segundo factor de tu cuenta',
    ],
    [
      'recovery_code_used',
      'A recovery code of your account was used',
      'Se usó un código de recuperación de tu cuenta',
    ],
    [
      'recovery_codes_replaced',
      'Your account has new recovery codes',
      'Tu cuenta tiene códigos de recuperación nuevos',
    ],
  ] as const;
  const link = 'https://platform.example/oauth/password-reset/request';
  const at = new Date('2031-03-05T17:08:00.000Z');

  it.each(CHANGES)('says of %s what, when and where to do what about it', (kind, english, spanish) => {
    for (const [locale, subject, when] of [
      ['en', english, 'on 5 March 2031 at 17:08 UTC'],
      ['es', spanish, 'el 5 de marzo de 2031 a las 17:08 UTC'],
    ] as const) {
      const written = identityMail({ ...facts, kind, locale, link, at });
      expect(written.subject).toBe(subject);
      for (const content of [written.text, written.html]) {
        expect(content).toContain(when);
        expect(content).toContain('Tienda');
        expect(content).toContain(link);
      }
    }
  });

  it.each([
    [
      'en',
      'Your second factors were removed from your account',
      '“Phone”, “Tablet”, and “Pay at evil. example”',
    ],
    ['es', 'Se quitaron los segundos factores de tu cuenta', '“Phone”, “Tablet” y “Pay at evil. example”'],
  ])('names in %s all factors that were removed at once, and leads to none', (locale, subject, listed) => {
    const names = ['Phone', 'Tablet', 'Pay at evil.example'];
    const written = identityMail({ ...facts, kind: 'factor_removed', locale, link, at, names });
    expect(written.subject).toBe(subject);
    for (const content of [written.text, written.html]) expect(content).toContain(listed);
    const one = identityMail({ ...facts, kind: 'factor_removed', locale, link, at, names: ['Phone'] });
    expect(one.text).toContain('UTC: “Phone”.');
  });

  it.each(CHANGES)('names no password in that of %s to who has none', (kind) => {
    for (const locale of ['en', 'es']) {
      const { text, html } = identityMail({ ...facts, kind, locale, link: null, at });
      for (const content of [text, html]) expect(content).not.toMatch(/https?:|href|button|undefined|null/i);
      expect(text).not.toMatch(/new password|contraseña nueva/i);
    }
  });
});
