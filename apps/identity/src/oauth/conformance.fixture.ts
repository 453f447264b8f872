import { createRemoteJWKSet, customFetch, jwtVerify, type JWTPayload } from 'jose';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import { Browser, CALLBACK, ISSUER, TestClient, type Answers } from './browser.fixture.js';

/** Where the client sends people after signing out. */
export const BYE = 'https://app.example/bye';

/** What came of a whole flow: the answer to the request, the tokens, and what they say. */
export interface Flow {
  readonly browser: Browser;
  readonly back: URL;
  readonly code: string;
  readonly tokens: Record<string, string>;
  readonly claims: JWTPayload;
  readonly header: Record<string, unknown>;
  readonly prompts: readonly string[];
  readonly params: Readonly<Record<string, unknown>>;
}

/** What the plans of the OpenID Foundation do to a provider: a client of its Basic profile, which sends no PKCE. */
export class RelyingParty {
  private constructor(
    private readonly bench: IdentityBench,
    readonly client: TestClient,
  ) {}

  static async register(bench: IdentityBench, organization: TestOrganization): Promise<RelyingParty> {
    return new RelyingParty(bench, await TestClient.register(bench, organization, { require_pkce: false }));
  }

  /** The parameters that all requests of the plan have; an empty one is left out. */
  request(further: Record<string, string> = {}): Record<string, string> {
    const parameters = {
      client_id: this.client.id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid',
      state: 'a-state',
      nonce: 'a-nonce',
      ...further,
    };
    return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
  }

  /** Asks, and goes on as the user answers. */
  async authorize(
    answers: Answers,
    further: Record<string, string> = {},
    browser = new Browser(this.bench),
  ): Promise<Pick<Flow, 'back' | 'browser' | 'prompts' | 'params'>> {
    const prompts: string[] = [];
    let params = {};
    const back = await browser.authorize(this.request(further), (interaction) => {
      prompts.push(interaction.prompt);
      params = interaction.params;
      return answers(interaction);
    });
    return { back, browser, prompts, params };
  }

  /** To the tokens, of which the ID token is verified. */
  async flow(answers: Answers, further: Record<string, string> = {}, browser?: Browser): Promise<Flow> {
    const asked = await this.authorize(answers, further, browser);
    const code = asked.back.searchParams.get('code') ?? '';
    const { status, body } = await this.redeem(code);
    expect([status, body]).toEqual([200, expect.anything()]);
    const { payload, protectedHeader } = await this.verify(body['id_token'] ?? '');
    return { ...asked, code, tokens: body, claims: payload, header: { ...protectedHeader } };
  }

  /** By the method `client_secret_basic`. */
  async redeem(code: string): Promise<{ status: number; body: Record<string, string> }> {
    const { id, registered } = this.client;
    const credentials = Buffer.from(`${id}:${registered.client_secret ?? ''}`).toString('base64');
    const response = await fetch(`${this.bench.app.url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  }

  async userinfo(init: RequestInit): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.bench.app.url}/oauth/userinfo`, init);
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
  }

  async metadata(): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.bench.app.url}/.well-known/openid-configuration`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('application/json'),
    ]);
    return (await response.json()) as Record<string, unknown>;
  }

  private verify(token: string) {
    const keys = createRemoteJWKSet(new URL(`${ISSUER}/.well-known/jwks.json`), {
      [customFetch]: (input: string, init?: RequestInit) =>
        fetch(input.replace(ISSUER, this.bench.app.url), init),
    });
    return jwtVerify(token, keys, {
      issuer: ISSUER,
      audience: this.client.id,
      requiredClaims: ['sub', 'iat', 'exp'],
    });
  }
}
