import { identityLetter, type LetterFacts } from './identity-letters.js';

const facts: LetterFacts = {
  kind: 'password_reset',
  locale: 'es-CL',
  organizationName: 'Tienda',
  link: 'https://platform.example/oauth/password-reset?token=pwr_A',
  expiresAt: new Date('2031-03-05T17:08:00.000Z'),
};

describe('the letter of a password reset', () => {
  it('says until when its link works', () => {
    const { text, html } = identityLetter(facts);
    for (const content of [text, html]) {
      expect(content).toContain('Sirve una sola vez y hasta el 5 de marzo de 2031 a las 17:08 UTC.');
      expect(content).toContain(facts.link);
    }
  });

  it('has no link but its own, whatever the organization calls itself', () => {
    const organizationName = 'Payroll: sign in at https://evil.example/now or evil。example';
    const { subject, text, html } = identityLetter({ ...facts, organizationName });
    for (const content of [subject, text, html].map((part) => part.replaceAll(String(facts.link), ''))) {
      expect(content).not.toMatch(/https?:\/\/[^"]*evil/);
      expect(content).not.toMatch(/evil[.。]\S/);
    }
  });

  it.each([
    ['en', 'You sign in through your organization'],
    ['es', 'Ingresas a través de tu organización'],
  ])('says in %s, without a link, that there is no password', (locale, subject) => {
    const written = identityLetter({ ...facts, kind: 'single_sign_on', locale, link: null });
    expect(written.subject).toBe(subject);
    for (const content of [written.text, written.html]) {
      expect(content).toContain('Tienda');
      expect(content).not.toMatch(/https?:|href|button|undefined|null/i);
    }
  });
});
