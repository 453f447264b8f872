import type { ModulesTls } from '@customer-platform/config';
import { currentCorrelationId } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { buildConnector, Pool } from 'undici';
import { byDeadline } from './by-deadline.js';
import { monotonic, type Monotonic } from './monotonic.js';
import type { ServiceTokens } from './service-tokens.js';

/** A module that others can call. */
export type ModuleName = 'core' | 'crm' | 'identity' | 'loyalty' | 'messaging';

/** The environment variable that holds a module's internal address. */
export function internalUrlVariable(module: ModuleName): string {
  return `${module.toUpperCase()}_INTERNAL_URL`;
}

/** One call of another module's `/internal/*`. */
export interface InternalCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, beginning with `/internal/`. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** The whole call, answer read, takes no longer. */
  timeoutMs: number;
  /** Calls of one lane share connections and wait for nobody else's; `default` unless given. */
  lane?: string;
}

/** What the callee answered when it was neither the answer nor silence: a defect of one side, or a refusal. */
export class InternalCallRefused extends Error {
  override readonly name = 'InternalCallRefused';
  constructor(
    readonly module: ModuleName,
    readonly status: number,
    /** The parsed problem, if the answer was one. */
    readonly problem: Readonly<Record<string, unknown>>,
  ) {
    super(
      `${module} answered ${status} ${typeof problem['code'] === 'string' ? problem['code'] : ''}`.trim(),
    );
  }
}

interface Exchanged {
  readonly status: number;
  readonly text: string;
}

/** Connections kept to a module, by lane. */
const CONNECTIONS = 16;
const CONNECT_MS = 3_000;

/** Calls other modules on their internal listeners, with a service token of ours, over long-lived connections. */
export class InternalClient {
  private readonly pools = new Map<string, Pool>();

  constructor(
    private readonly tokens: ServiceTokens,
    private readonly urls: Partial<Record<ModuleName, string>>,
    private readonly clock: Monotonic = monotonic,
    private readonly tls?: ModulesTls,
  ) {}

  /**
   * The parsed answer; undefined for an empty one.
   * @throws Problem `dependency_unavailable` when the module is away, slow or failing
   * @throws InternalCallRefused for every other status than 2xx
   */
  async call<T>(module: ModuleName, call: InternalCall): Promise<T> {
    const { status, text } = await this.exchange(module, call);
    if (status >= 200 && status < 300) return (text === '' ? undefined : parse(module, text)) as T;
    if (status >= 500 || status === 408 || status === 429) {
      throw unavailable(module, new Error(`${module} answered ${status}`));
    }
    throw new InternalCallRefused(module, status, problemOf(text));
  }

  /** As `call`, a 404 being `undefined`. */
  async callOptional<T>(module: ModuleName, call: InternalCall): Promise<T | undefined> {
    try {
      return await this.call<T>(module, call);
    } catch (error) {
      if (error instanceof InternalCallRefused && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  /**
   * undici heeds a signal only once a request has a connection: one that waits for a connection, behind a module that
   * takes connections and says nothing, would wait for as long as those before it together.
   */
  private async exchange(module: ModuleName, call: InternalCall): Promise<Exchanged> {
    const pool = this.poolOf(module, call.lane ?? 'default');
    const deadline = this.clock.now() + call.timeoutMs;
    const token = await this.tokens.issue(module, call);
    try {
      return await byDeadline(this.clock, deadline, (signal) => request(pool, call, token, signal), 'taken');
    } catch (error) {
      throw unavailable(module, error);
    }
  }

  private get connecting(): Pool.Options {
    const connect = this.tls?.following((client) => buildConnector({ ...client, timeout: CONNECT_MS }));
    return connect ? { connect } : { connectTimeout: CONNECT_MS };
  }

  private poolOf(module: ModuleName, lane: string): Pool {
    const name = `${module} ${lane}`;
    let pool = this.pools.get(name);
    if (!pool) {
      const url = this.urls[module];
      if (url === undefined) {
        throw new Error(`${internalUrlVariable(module)} is missing, but ${module} is called`);
      }
      // Node's servers close an idle connection after 5 s by default; ours must be let go before that.
      pool = new Pool(url, {
        connections: CONNECTIONS,
        pipelining: 1,
        keepAliveTimeout: 4_000,
        ...this.connecting,
      });
      this.pools.set(name, pool);
    }
    return pool;
  }
}

async function request(
  pool: Pool,
  call: InternalCall,
  token: string,
  signal: AbortSignal,
): Promise<Exchanged> {
  const correlationId = currentCorrelationId();
  const { statusCode, body } = await pool.request({
    method: call.method,
    path: call.path,
    headers: {
      authorization: `Bearer ${token}`,
      ...(correlationId === undefined ? {} : { 'x-correlation-id': correlationId }),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: call.body === undefined ? null : JSON.stringify(call.body),
    signal,
  });
  return { status: statusCode, text: await body.text() };
}

function unavailable(module: ModuleName, cause: unknown): Problem {
  return new Problem('dependency_unavailable', {
    detail: `The module ${module} does not answer; try again shortly.`,
    cause,
  });
}

function parse(module: ModuleName, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unavailable(module, error);
  }
}

function problemOf(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? { ...body } : {};
  } catch {
    return {}; // a body that is not ours to read says nothing beyond its status
  }
}
