import { createHash, randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Caller, expectStatus } from '@customer-platform/testing';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import type { OAuthClientWithSecretDto } from '../oauth-clients/oauth-client.dto.js';
import { BrowserBinding } from '../pages/browser-binding.js';
import { Interactions, type Interaction, type InteractionResult } from './interactions.js';

/** Where the service believes to be. */
export const ISSUER = 'http://127.0.0.1:8080';
export const CALLBACK = 'https://app.example/callback';

/** What a step of a sign-in is answered with. */
export type Answers = (interaction: Interaction) => InteractionResult;

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** A browser: cookies by path, and redirects that it follows within the platform. */
export class Browser {
  private readonly cookies = new Map<string, Cookie>();
  private readonly issuer: string;
  private readonly headers: Record<string, string>;
  /** Each as it was set. */
  readonly set: string[] = [];

  /** `from` is its address, as the gateway tells it. */
  constructor(
    private readonly bench: IdentityBench,
    { from, issuer = ISSUER }: { from?: string; issuer?: string } = {},
  ) {
    this.issuer = issuer;
    this.headers = from === undefined ? {} : { 'x-forwarded-for': from };
  }

  /** As it is now: what is answered to the one is not known to the other. */
  copy(): Browser {
    const copy = new Browser(this.bench, { issuer: this.issuer });
    Object.assign(copy.headers, this.headers);
    copy.become(this);
    return copy;
  }

  /** Knows what another knows, and nothing else. */
  become(other: Browser): void {
    this.cookies.clear();
    for (const [name, cookie] of other.cookies) this.cookies.set(name, cookie);
  }

  /** Takes a cookie that it was not given here. */
  plant(line: string): void {
    this.keep(line);
  }

  /** One exchange. */
  async get(path: string): Promise<Response> {
    return this.send(path, {});
  }

  async submit(path: string, form: Record<string, string>): Promise<Response> {
    return this.send(path, { method: 'POST', body: new URLSearchParams(form) });
  }

  /** Follows an authorization request to its end: where it sends the browser, or what it shows. */
  async authorize(parameters: Record<string, string>, answers: Answers): Promise<URL> {
    let next = `/oauth/authorize?${new URLSearchParams(parameters).toString()}`;
    for (let step = 0; step < 12; step += 1) {
      const location = next.startsWith('/oauth/interactions/')
        ? await this.answer(next, answers)
        : await this.follow(next);
      if (location.origin !== this.issuer) return location;
      next = location.pathname + location.search;
    }
    throw new Error(`The sign-in does not end: ${next}`);
  }

  private async follow(path: string): Promise<URL> {
    const response = await this.get(path);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${String(response.status)}: ${await response.text()}`);
    return new URL(location, this.issuer);
  }

  /** As the pages do, which are served elsewhere. */
  private async answer(path: string, answers: Answers): Promise<URL> {
    const interactions = this.bench.app.app.get(Interactions, { strict: false });
    const request = new IncomingMessage(new Socket());
    request.url = path;
    request.headers.cookie = this.sends(path);
    const response = new ServerResponse(request);
    const interaction = await interactions.read(request, response);
    const own = BrowserBinding.fresh(response, interaction.uid);
    const way = await interactions.end(request, response, answers(interaction), own);
    for (const line of [response.getHeaders()['set-cookie'] ?? []].flat()) this.keep(line);
    return new URL(way, this.issuer);
  }

  private async send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...this.headers, cookie: this.sends(path), accept: 'text/html' };
    const response = await fetch(this.bench.app.url + path, { redirect: 'manual', headers, ...init });
    for (const line of response.headers.getSetCookie()) {
      this.set.push(line);
      this.keep(line);
    }
    return response;
  }

  /** The header `Cookie` of a request to a path. */
  sends(path: string): string {
    const own = [...this.cookies].filter(([, cookie]) => path.startsWith(cookie.path));
    return own.map(([name, { value }]) => `${name.split(' ')[0] ?? ''}=${value}`).join('; ');
  }

  private keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const path = attributes.find((one) => one.startsWith('path='))?.slice(5) ?? '/';
    if (value === '') this.cookies.delete(`${name} ${path}`);
    else this.cookies.set(`${name} ${path}`, { value, path });
  }
}

/** A PKCE pair. */
export function aChallenge() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Signs a user in, with a password, wherever the user is asked. */
export function signsIn(userId: string, organizationId?: string): Answers {
  return ({ prompt, scopes }) => {
    if (prompt === 'consent') return { consent: scopes };
    const signedIn = { userId, amr: ['pwd'], authenticatedAt: new Date() };
    return { signedIn, ...(organizationId === undefined ? {} : { organizationId }) };
  };
}

/** A registered client, as its program knows it. */
export class TestClient {
  constructor(
    private readonly bench: IdentityBench,
    readonly registered: OAuthClientWithSecretDto,
  ) {}

  static async register(
    bench: IdentityBench,
    organization: TestOrganization,
    body: object = {},
  ): Promise<TestClient> {
    const answer = await organization.admin.post<OAuthClientWithSecretDto>('/v1/identity/oauth-clients', {
      name: 'App',
      type: 'confidential',
      redirect_uris: [CALLBACK],
      post_logout_redirect_uris: ['https://app.example/bye'],
      ...body,
    });
    expectStatus(answer, 201);
    return new TestClient(bench, answer.body);
  }

  /** A client of the platform's own, for the people of all organizations. */
  static async ofRoot(bench: IdentityBench, body: object = {}): Promise<TestClient> {
    const { organization, keys } = await bench.operator.recover('platform');
    const { key = '', id = '' } = keys.administrator ?? {};
    const admin = new Caller(bench.app.url, key, () => true);
    const root = { id: organization.id, admin, adminKey: key, adminKeyId: id };
    return TestClient.register(bench, root, { organizations: 'tree', ...body });
  }

  get id(): string {
    return this.registered.id;
  }

  /** An authorization request that is right. */
  request(challenge: string, further: Record<string, string> = {}): Record<string, string> {
    return {
      client_id: this.id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid email offline_access',
      state: 'a-state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...further,
    };
  }

  /** A code for somebody who signs in with a fresh browser, unless one is given. */
  async code(answers: Answers, { browser = new Browser(this.bench), further = {} }: CodeOptions = {}) {
    const { verifier, challenge } = aChallenge();
    const back = await browser.authorize(this.request(challenge, further), answers);
    return { browser, verifier, code: back.searchParams.get('code') ?? '', back };
  }

  /** Tokens for somebody who signs in. */
  async tokens(answers: Answers, options: CodeOptions = {}) {
    const { code, verifier, browser } = await this.code(answers, options);
    const answer = await this.redeem(code, verifier);
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    return { ...answer.body, browser };
  }

  redeem(code: string, verifier: string, further: Record<string, string> = {}): Promise<TokenAnswer> {
    const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier };
    return this.post('/oauth/token', { ...form, ...further });
  }

  refresh(token: string): Promise<TokenAnswer> {
    return this.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: token });
  }

  /** A call that proves who the client is. */
  async post(path: string, form: Record<string, string>, secret = this.registered.client_secret) {
    const body = new URLSearchParams({ client_id: this.id, ...form });
    if (secret !== undefined && !body.has('client_secret')) body.set('client_secret', secret);
    const response = await fetch(this.bench.app.url + path, { method: 'POST', body });
    const text = await response.text();
    const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Tokens;
    return { status: response.status, body: json, headers: response.headers };
  }
}

interface CodeOptions {
  readonly browser?: Browser;
  readonly further?: Record<string, string>;
}

/** What the token endpoint answers. */
interface Tokens {
  access_token: string;
  refresh_token: string;
  id_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
  error?: string;
  active?: boolean;
  [member: string]: unknown;
}

interface TokenAnswer {
  status: number;
  body: Tokens;
  headers: Headers;
}
