import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type ModulesTls, publicUrlsConfig, readConfig } from '@customer-platform/config';
import { log, modulesTls, traceHeaders, type RequestContext } from '@customer-platform/http';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';
import { buildConnector, Pool } from 'undici';
import type { Fragment, Source } from './fragments.js';
import { readSourcePage, type SourcePage } from './source-page.js';
import type { Position } from './timeline-position.js';

/** How long a source may take, answer read; slower is unreachable (crm.md §4). */
const TIMEOUT_MS = 800;
/** To each module. A source that hangs holds one for each request all that time; who waits for one waits longer still. */
const CONNECTIONS = 256;
/** 200 items of 64 KiB and what surrounds them. */
const ANSWER_BYTES = 16 * 1024 * 1024;

const sourcesConfig = publicUrlsConfig.pick({ CORE_URL: true, LOYALTY_URL: true, MESSAGING_URL: true });

/** What is asked of a fragment. */
interface FragmentRequest {
  readonly contactId: string;
  readonly limit: number;
  /** Only items after it in the order of the source; absent: from the newest on. */
  readonly after?: Position;
  /** Filters, passed on as they are. */
  readonly filters: readonly (readonly [name: string, value: string])[];
}

/** What came of it. */
export type FragmentAnswer =
  | { readonly kind: 'page'; readonly page: SourcePage }
  /** The source itself says that the caller may not see this. */
  | { readonly kind: 'forbidden' }
  /** Slow, away, overloaded, failing, or not understood. */
  | { readonly kind: 'unreachable' };

const TOO_LATE = new Error(`it took longer than ${String(TIMEOUT_MS)} ms`);

/**
 * Gives up what sources have not answered by then. One timer for all of them, and one reason for ever: an
 * `AbortSignal.timeout` for each makes an error with a stack for each, while the machine has least time for it.
 */
export class Deadline {
  /** Rejects when the time is over. */
  readonly passed: Promise<never>;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(milliseconds: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.passed = promise;
    this.timer = setTimeout(() => {
      reject(TOO_LATE);
      this.controller.abort(TOO_LATE);
    }, milliseconds);
    // eslint-disable-next-line house/no-swallowed-error -- it passes unheard where everybody has answered
    promise.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  end(): void {
    clearTimeout(this.timer);
  }
}

/** Asks the modules for fragments, on their public listeners, as the caller. */
@Injectable()
export class SourceClient implements OnApplicationShutdown {
  private readonly pools: Readonly<Record<Source, Pool>>;

  constructor() {
    const urls = readConfig(sourcesConfig);
    const tls = modulesTls();
    this.pools = {
      core: poolOf(urls.CORE_URL, tls),
      loyalty: poolOf(urls.LOYALTY_URL, tls),
      messaging: poolOf(urls.MESSAGING_URL, tls),
    };
  }

  /** From now on, for all that is asked of sources at once. To be ended when they have answered. */
  deadline(): Deadline {
    return new Deadline(TIMEOUT_MS);
  }

  /**
   * One page of a fragment; never throws for what the source does, but for one thing.
   * @throws Problem 401 when the source does not take the caller's credential
   */
  async read(
    fragment: Fragment,
    context: RequestContext,
    request: FragmentRequest,
    deadline: Deadline,
  ): Promise<FragmentAnswer> {
    try {
      const exchange = this.exchange(fragment, context, request, deadline.signal);
      // undici ends what waits for a connection only when connecting has ended, by a clock that is half a second late.
      const { status, text } = await Promise.race([exchange, deadline.passed]);
      return answerOf(fragment, status, text, request.after);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A source that hangs makes hundreds of these a second: no stacks.
      const { name, message } = error as Error;
      log.warn(
        { source: fragment.source, type: fragment.type, error: name, reason: message },
        'A source of the timeline is unreachable',
      );
      return { kind: 'unreachable' };
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool) => pool.destroy()));
  }

  private async exchange(
    fragment: Fragment,
    context: RequestContext,
    request: FragmentRequest,
    signal: AbortSignal,
  ): Promise<{ status: number; text: string }> {
    const { statusCode, body } = await this.pools[fragment.source].request({
      method: 'GET',
      path: pathOf(fragment, request),
      headers: {
        accept: 'application/json',
        'x-correlation-id': context.correlationId,
        ...(context.authorization === undefined ? {} : { authorization: context.authorization }),
        ...traceHeaders(),
      },
      signal,
    });
    return { status: statusCode, text: await body.text() };
  }
}

function poolOf(url: string, tls: ModulesTls | undefined): Pool {
  const connect = tls?.following((client) => buildConnector({ ...client, timeout: TIMEOUT_MS }));
  return new Pool(url, {
    connections: CONNECTIONS,
    pipelining: 1,
    // Node's servers close an idle connection after 5 s by default; ours must be let go before that.
    keepAliveTimeout: 4_000,
    ...(connect ? { connect } : { connectTimeout: TIMEOUT_MS }),
    maxResponseSize: ANSWER_BYTES,
  });
}

function pathOf(fragment: Fragment, { contactId, limit, after, filters }: FragmentRequest): string {
  const query = new URLSearchParams({ sort: '-occurred_at', limit: String(limit) });
  if (after) {
    query.set('before_occurred_at', after.occurredAt);
    query.set('before_id', after.id);
  }
  for (const [name, value] of filters) query.append(name, value);
  const path = fragment.path(contactId);
  return `${path}${path.includes('?') ? '&' : '?'}${query.toString()}`;
}

/** What a status and a body mean to the timeline (crm.md §4). Throws for what makes the source unreachable. */
function answerOf(
  fragment: Fragment,
  status: number,
  text: string,
  after: Position | undefined,
): FragmentAnswer {
  switch (status) {
    case 200:
      return { kind: 'page', page: readSourcePage(fragment, text, after) };
    case 401:
      throw new Problem(credentialCodeOf(text));
    case 403:
      return { kind: 'forbidden' };
    case 404:
      return { kind: 'page', page: { items: [], more: false } };
    default:
      throw new Error(`it answered ${String(status)}`);
  }
}

const CREDENTIAL_CODES: readonly ProblemCode[] = ['missing_credentials', 'token_expired'];

function credentialCodeOf(text: string): ProblemCode {
  return CREDENTIAL_CODES.find((code) => text.includes(`"code":"${code}"`)) ?? 'invalid_token';
}
