import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { base64url, exportJWK, generateKeyPair, SignJWT, type JWK, type JWTHeaderParameters } from 'jose';

type Claims = Record<string, unknown>;
type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>;

/** What a token request carried. */
interface TokenRequest {
  readonly parameters: URLSearchParams;
  readonly authorization: string | undefined;
}

const HOUR_S = 3_600;

/** A provider that answers as it is told to: rightly at first, then with whatever a test makes it say. */
export class HostileProvider {
  issuer = '';
  metadata: Claims = {};
  /** What the ID token says beside what the code's request asked for. */
  claims: Claims = {};
  /** Makes the ID token. */
  sign: (claims: Claims) => Promise<string> = (claims) => this.signed(claims);
  /** Answers instead of the provider. */
  readonly instead = new Map<string, Handler>();
  readonly tokenRequests: TokenRequest[] = [];
  readonly asked: string[] = [];
  private nonce = '';
  private server!: Server;
  private keys!: Awaited<ReturnType<typeof generateKeyPair>>;
  private jwk!: JWK;

  static async start(): Promise<HostileProvider> {
    const provider = new HostileProvider();
    provider.keys = await generateKeyPair('ES256', { extractable: true });
    provider.jwk = { ...(await exportJWK(provider.keys.publicKey)), kid: 'key', alg: 'ES256', use: 'sig' };
    provider.server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => void provider.answer(request, response, body));
    });
    await new Promise<void>((resolve) => provider.server.listen(0, '127.0.0.1', resolve));
    provider.issuer = `http://127.0.0.1:${String((provider.server.address() as AddressInfo).port)}`;
    provider.behave();
    return provider;
  }

  /** Forgets what it was told to do. */
  behave(): void {
    this.metadata = {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      id_token_signing_alg_values_supported: ['ES256', 'none', 'HS256'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    };
    this.claims = {};
    this.sign = (claims) => this.signed(claims);
    this.instead.clear();
    this.tokenRequests.length = 0;
    this.asked.length = 0;
  }

  /** What a person's browser would bring back from it. */
  authorize(url: URL, parameters: Record<string, string> = {}): URL {
    this.nonce = url.searchParams.get('nonce') ?? '';
    const back = new URL(url.searchParams.get('redirect_uri') ?? '');
    const state = url.searchParams.get('state') ?? '';
    back.search = new URLSearchParams({ code: 'code', state, ...parameters }).toString();
    return back;
  }

  async signed(claims: Claims, header: Partial<JWTHeaderParameters> = {}, key?: Key): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'key', ...header })
      .sign(key ?? this.keys.privateKey);
  }

  /** By a secret, as whoever knows it could. */
  async signedBySecret(claims: Claims, secret: string): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
  }

  /** By nobody. */
  unsigned(claims: Claims): string {
    return [{ alg: 'none' }, claims].map((part) => base64url.encode(JSON.stringify(part))).join('.') + '.';
  }

  /** The public key as text: what a confused verifier would take for a secret. */
  get publicText(): string {
    return JSON.stringify(this.jwk);
  }

  /** Whether the code was redeemed with the verifier of the challenge in the address. */
  redeemedFor(url: URL): boolean {
    const verifier = this.tokenRequests.at(-1)?.parameters.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    return challenge === url.searchParams.get('code_challenge');
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const path = request.url ?? '';
    this.asked.push(path);
    const instead = this.instead.get(path);
    if (instead) return instead(request, response, body);
    const json = (value: unknown): void => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    };
    if (path === '/.well-known/openid-configuration') return json(this.metadata);
    if (path === '/jwks') return json({ keys: [this.jwk] });
    if (path.startsWith('/authorize?')) {
      const { href } = this.authorize(new URL(path, this.issuer));
      return void response.writeHead(302, { location: href }).end();
    }
    if (path !== '/token') return void response.writeHead(404).end();
    const parameters = new URLSearchParams(body);
    this.tokenRequests.push({ parameters, authorization: request.headers.authorization });
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: this.issuer, aud: 'platform', iat: now, exp: now + HOUR_S, nonce: this.nonce };
    json({
      access_token: 'access',
      token_type: 'Bearer',
      id_token: await this.sign({ ...usual, ...this.claims }),
    });
  }
}
