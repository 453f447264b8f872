import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestConnection } from './sso-bench.fixture.js';

const PROGRAM = join(import.meta.dirname, 'other-provider.fixture.ts');

/** What a provider in that program is made of. */
interface WantedProvider {
  readonly name: string;
  readonly algorithm: 'RS256' | 'PS256' | 'ES256';
  readonly thin: boolean;
  readonly people: Readonly<Record<string, object>>;
}

/** Providers that are not ours, in a process of their own. */
export class OtherProviders {
  private constructor(
    private readonly program: ChildProcess,
    private readonly issuers: Readonly<Record<string, string>>,
  ) {}

  static async start(wanted: readonly WantedProvider[]): Promise<OtherProviders> {
    const program = spawn(process.execPath, [PROGRAM, JSON.stringify(wanted)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: program.stdout });
    const [line] = (await once(lines, 'line')) as [string];
    return new OtherProviders(program, JSON.parse(line) as Record<string, string>);
  }

  issuer(name: string): string {
    const issuer = this.issuers[name];
    if (issuer === undefined) throw new Error(`There is no provider ${name}`);
    return issuer;
  }

  /** Tells the provider where people come back to. @returns what the connection says of itself from then on */
  async register({ redirectUri }: TestConnection, name: string): Promise<object> {
    const answer = await fetch(`${this.issuer(name)}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirectUri] }),
    });
    const { client_id, client_secret } = (await answer.json()) as Record<string, unknown>;
    return { client_id, client_secret };
  }

  async end(): Promise<void> {
    if (this.program.exitCode !== null) return;
    this.program.stdin?.end();
    await once(this.program, 'exit');
  }
}
