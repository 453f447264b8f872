import { expectStatus } from '@customer-platform/testing';
import { Secret, TOTP } from 'otpauth';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, type Browser, type TestClient } from '../oauth/browser.fixture.js';
import { PasswordHashing } from '../passwords/password-hashing.js';

export const PASSWORD = 'correct horse battery staple';

/** Somebody who signs in by a password. */
export interface Person {
  readonly userId: string;
  readonly email: string;
}

/** Somebody of an organization with a password, which is hashed once. */
export class People {
  private hash: string | undefined;

  constructor(private readonly bench: IdentityBench) {}

  /** At home in the organization, and a member unless said otherwise. */
  async person(organization: TestOrganization, { isMember = true } = {}): Promise<Person> {
    const userId = await this.bench.person(organization.id);
    this.hash ??= await this.bench.app.app.get(PasswordHashing, { strict: false }).hash(PASSWORD);
    const sql = 'UPDATE users SET password_hash = $2, email_verified = true WHERE id = $1';
    await this.bench.database.query(sql, [userId, this.hash]);
    if (isMember) await this.bench.member(organization, userId);
    return { userId, email: `${userId}@example.com` };
  }

  /** Gives somebody a second factor; its codes of now are not used yet. */
  async factorFor(organization: TestOrganization, { userId }: Person) {
    const { caller } = await this.bench.signIn(organization.id, userId);
    const body = { type: 'totp', name: 'Phone' };
    const begun = await caller.post<{ factor_id: string; secret: string }>('/v1/identity/mfa/enroll', body);
    expectStatus(begun, 200);
    const { factor_id, secret } = begun.body;
    const verify = { factor_id, code: codeOf(secret) };
    const verified = await caller.post<{ recovery_codes: string[] }>('/v1/identity/mfa/verify', verify);
    expectStatus(verified, 200);
    await this.bench.database.query('UPDATE mfa_factors SET last_step = NULL WHERE id = $1', [factor_id]);
    return { secret, recoveryCodes: verified.body.recovery_codes };
  }
}

/** The code of this moment. */
export function codeOf(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
}

interface Form {
  readonly method: string;
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A page, or the address outside of the platform that a browser was sent to. */
export class Shown {
  constructor(
    readonly url: URL,
    readonly status: number,
    readonly html: string,
  ) {}

  get title(): string {
    return /<title>([^<]*)/.exec(this.html)?.[1] ?? '';
  }

  /** Where the browser goes on by itself. */
  get refresh(): string | undefined {
    return unescaped(/http-equiv="refresh" content="0;url=([^"]*)"/.exec(this.html)?.[1]);
  }

  get links(): string[] {
    return [...this.html.matchAll(/<a\s[^>]*href="([^"]*)"/g)].map(([, href]) => unescaped(href) ?? '');
  }

  get forms(): Form[] {
    return [...this.html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => ({
      method: /method="(\w+)"/.exec(head)?.[1] ?? 'get',
      action: unescaped(/action="([^"]*)"/.exec(head)?.[1]) ?? '',
      fields: Object.fromEntries(
        [...body.matchAll(/<(?:input|button)\s[^>]*>/g)].flatMap(([tag]) => {
          const name = /\sname="([^"]*)"/.exec(tag)?.[1];
          return name === undefined ? [] : [[name, unescaped(/\svalue="([^"]*)"/.exec(tag)?.[1]) ?? '']];
        }),
      ),
    }));
  }

  /** The form of a step. */
  form(step: string): Form | undefined {
    return this.forms.find(({ fields }) => fields['step'] === step);
  }
}

function unescaped(text: string | undefined): string | undefined {
  return text
    ?.replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
}

const MOST_HOPS = 12;

/** Goes through pages without script as a browser does: redirects, pages that lead on by themselves, forms. */
export class PageVisitor {
  constructor(
    readonly browser: Browser,
    private readonly issuer: string,
  ) {}

  /** Begins an authorization request. */
  async authorize(client: TestClient, further: Record<string, string> = {}) {
    const { verifier, challenge } = aChallenge();
    const query = new URLSearchParams(client.request(challenge, further)).toString();
    return { verifier, shown: await this.open(`/oauth/authorize?${query}`) };
  }

  /** Where an address leads; with `stay` the page that would lead on by itself is looked at. */
  async open(address: string, { stay = false } = {}): Promise<Shown> {
    return this.land(new URL(address, this.issuer), await this.fetch(address), stay);
  }

  /** Sends the form of a step, filled in. */
  async send(shown: Shown, step: string, fields: Record<string, string> = {}, { stay = false } = {}) {
    const form = shown.form(step);
    if (!form) throw new Error(`The page has no form "${step}": ${shown.title} ${shown.html}`);
    const answer = await this.browser.submit(form.action, { ...form.fields, ...fields });
    return this.land(new URL(form.action, this.issuer), answer, stay);
  }

  /** Email and password. */
  async signIn(shown: Shown, { email }: Pick<Person, 'email'>, { stay = false } = {}): Promise<Shown> {
    const asked = await this.send(shown, 'email', { email });
    return this.send(asked, 'password', { email, password: PASSWORD }, { stay });
  }

  private fetch(address: string): Promise<Response> {
    const { pathname, search } = new URL(address, this.issuer);
    return this.browser.get(pathname + search);
  }

  private async land(url: URL, answer: Response, stay: boolean): Promise<Shown> {
    let [at, response] = [url, answer];
    for (let hop = 0; hop < MOST_HOPS; hop += 1) {
      const shown = new Shown(at, response.status, await response.text());
      const to = response.headers.get('location') ?? (stay ? undefined : shown.refresh);
      if (to === undefined) return shown;
      at = new URL(to, this.issuer);
      if (at.origin !== this.issuer) return new Shown(at, 0, '');
      response = await this.fetch(at.href);
    }
    throw new Error(`It leads on and on: ${at.href}`);
  }
}
