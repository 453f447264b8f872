import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectStatus, freePorts, startChromium } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, TestClient } from '../oauth/browser.fixture.js';
import { PasswordHashing } from '../passwords/password-hashing.js';

export const PASSWORD = 'correct horse battery staple';

type ContextOptions = Parameters<Browser['newContext']>[0];

/** The service at an address that a browser reaches, an application beside it, and Chromium. */
export class SignInBench {
  private constructor(
    readonly identity: IdentityBench,
    readonly origin: string,
    private readonly chromium: Browser,
    private readonly application: Server,
    private readonly passwordHash: string,
  ) {}

  static async start(variables: Record<string, string> = {}): Promise<SignInBench> {
    // It has to know its address before it listens.
    const [port] = await freePorts(1);
    const origin = `http://localhost:${String(port)}`;
    // Whatever reads where the platform is after it has started reads the same.
    process.env['PUBLIC_URL'] = origin;
    const application = createHttpServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<h1>The application</h1>');
    });
    await new Promise<void>((listening) => application.listen(0, '127.0.0.1', listening));
    const [identity, chromium] = await Promise.all([
      IdentityBench.start({ PORT: String(port), PUBLIC_URL: origin, HOST: '::', ...variables }),
      startChromium(),
    ]);
    const hash = await identity.app.app.get(PasswordHashing, { strict: false }).hash(PASSWORD);
    return new SignInBench(identity, origin, chromium, application, hash);
  }

  async end(): Promise<void> {
    await this.chromium.close();
    this.application.closeAllConnections();
    this.application.close();
    await this.identity.end();
  }

  /** Where the application takes answers. */
  get callback(): string {
    return `http://127.0.0.1:${String((this.application.address() as AddressInfo).port)}/callback`;
  }

  /** A browser of its own, without script unless asked for. */
  async browser(options: ContextOptions = {}): Promise<Visitor> {
    const context = await this.chromium.newContext({
      locale: 'es-CL',
      javaScriptEnabled: false,
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(8_000);
    return new Visitor(this, context, page);
  }

  /** A client whose pages are on this machine: what a browser is redirected to, a test cannot put itself before. */
  client(organization: TestOrganization, further: object = {}): Promise<TestClient> {
    const body = { type: 'public', redirect_uris: [this.callback], ...further };
    return TestClient.register(this.identity, organization, body);
  }

  /** Somebody with a password. */
  async member(organization: TestOrganization): Promise<{ userId: string; email: string }> {
    const userId = await this.identity.person(organization.id);
    const { database } = this.identity;
    await database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [userId, this.passwordHash]);
    await this.identity.member(organization, userId);
    return { userId, email: `${userId}@example.com` };
  }

  /** Gives a user a second factor. */
  async factorFor(
    organization: TestOrganization,
    userId: string,
  ): Promise<{ usedCode: string; recoveryCodes: string[] }> {
    const { caller } = await this.identity.signIn(organization.id, userId);
    const begun = await caller.post<{ factor_id: string; secret: string }>('/v1/identity/mfa/enroll', {
      type: 'totp',
      name: 'Phone',
    });
    expectStatus(begun, 200);
    const { factor_id, secret } = begun.body;
    const code = codeOf(secret);
    const verified = await caller.post<{ recovery_codes: string[] }>('/v1/identity/mfa/verify', {
      factor_id,
      code,
    });
    expectStatus(verified, 200);
    return { usedCode: code, recoveryCodes: verified.body.recovery_codes };
  }

  /** An authorization request that is right, and what redeems its code. */
  request(client: TestClient, further: Record<string, string> = {}): { verifier: string; url: string } {
    const { verifier, challenge } = aChallenge();
    const parameters = client.request(challenge, { redirect_uri: this.callback, ...further });
    return {
      verifier,
      url: `${this.origin}/oauth/authorize?${new URLSearchParams(parameters).toString()}`,
    };
  }
}

/** Somebody at a browser. */
export class Visitor {
  constructor(
    private readonly bench: SignInBench,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  async typeIn(label: string, text: string, button: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).fill(text);
    await this.press(button);
  }

  async press(button: string): Promise<void> {
    await this.page.getByRole('button', { name: button, exact: true }).click();
  }

  async signIn(email: string, password = PASSWORD): Promise<void> {
    await this.typeIn('Correo electrónico', email, 'Continuar');
    await this.typeIn('Contraseña', password, 'Iniciar sesión');
  }

  /** The answer that the application was sent. */
  async back(): Promise<URLSearchParams> {
    await this.page.getByRole('heading', { name: 'The application' }).waitFor();
    return new URL(this.page.url()).searchParams;
  }

  /** What the access token says that the application redeems. */
  async claims(client: TestClient, verifier: string): Promise<Record<string, unknown>> {
    return decodeJwt((await this.tokens(client, verifier)).access_token);
  }

  async tokens(client: TestClient, verifier: string) {
    const code = (await this.back()).get('code') ?? '';
    const answer = await client.redeem(code, verifier, { redirect_uri: this.bench.callback });
    expect(answer.status).toBe(200);
    return answer.body;
  }

  /** The form of the page as anybody could send it. */
  async form(): Promise<{ action: string; token: string }> {
    const form = this.page.locator('form').first();
    const action = (await form.getAttribute('action')) ?? '';
    const token = (await form.locator('input[name=token]').getAttribute('value')) ?? '';
    return { action, token };
  }

  async cookieHeader(): Promise<string> {
    const cookies = await this.context.cookies();
    return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  }
}

/** The code of this moment. */
export function codeOf(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() });
}
