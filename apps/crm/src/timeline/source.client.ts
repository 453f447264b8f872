import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type ModulesTls, publicUrlsConfig, readConfig } from '@customer-platform/config';
import {
  log,
  modulesTls,
  readTimelineParts,
  TIMELINE_HEADER,
  TIMELINE_TYPE,
  timelineHeader,
  traceHeaders,
  type RequestContext,
  type ToldPart,
} from '@customer-platform/http';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';
import { buildConnector, Pool } from 'undici';
import { fieldsOf, type Fragment, type Source } from './fragments.js';
import { readSourcePage, readToldPage, type SourcePage } from './source-page.js';
import type { Position } from './timeline-position.js';

/** How long a source may take, answer read; slower is unreachable (crm.md §4). */
const TIMEOUT_MS = 800;
/** To each module. A source that hangs holds one for each request all that time; who waits for one waits longer still. */
const CONNECTIONS = 256;
/** 200 items of 64 KiB and what surrounds them. */
const ANSWER_BYTES = 16 * 1024 * 1024;

const sourcesConfig = publicUrlsConfig.pick({ CORE_URL: true, LOYALTY_URL: true, MESSAGING_URL: true });

/** A request of every fragment. */
interface TimelineRequest {
  readonly contactId: string;
  readonly limit: number;
  /** Filters, passed on as they are. */
  readonly filters: readonly (readonly [name: string, value: string])[];
  /** Only items after it in the order of the source; absent: from the newest on. */
  readonly after: (fragment: Fragment) => Position | undefined;
}

/** An answer as it came. */
interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** What came of it. */
export type FragmentAnswer =
  | { readonly kind: 'page'; readonly page: SourcePage }
  /** The source itself says that the caller may not see this. */
  | { readonly kind: 'forbidden' }
  /** Slow, away, overloaded, failing, or not understood. */
  | { readonly kind: 'unreachable' };

const UNREACHABLE = { kind: 'unreachable' } as const;

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
   * One page of each fragment, all at once; never throws for what a source does, but for one thing.
   * @throws Problem 401 when a source does not take the caller's credential
   */
  async readAll(
    fragments: readonly Fragment[],
    context: RequestContext,
    request: TimelineRequest,
    deadline: Deadline,
  ): Promise<Map<Fragment, FragmentAnswer>> {
    // What is narrowed or traced is for each list itself.
    const byLists = request.filters.length > 0 || 'traceparent' in traceHeaders();
    const calls = byLists
      ? fragments.map((fragment) => [fragment])
      : [...Map.groupBy(fragments, ({ source }) => source).values()];
    const answers = await Promise.all(calls.map((own) => this.ofSource(own, context, request, deadline)));
    return new Map(answers.flatMap((each) => [...each]));
  }

  /**
   * A module answers all that it has of these at once. One of the release before answers the list of the first alone, and
   * the others are asked for one by one then; so are all where it fails to, or is not understood.
   */
  private async ofSource(
    fragments: readonly Fragment[],
    context: RequestContext,
    request: TimelineRequest,
    deadline: Deadline,
  ): Promise<Map<Fragment, FragmentAnswer>> {
    const [first] = fragments;
    if (!first) return new Map();
    const together = await this.attempt(first, async () => {
      const header = headerOf(fragments, request);
      const answered = await this.exchange(first, context, request, deadline, header);
      if (answered.status === 200 && answered.type === TIMELINE_TYPE)
        return answersOfParts(fragments, answered.text, request);
      // Any of them may be what failed: that is for the list of each to tell.
      if (answered.status >= 500 && fragments.length > 1) return new Map<Fragment, FragmentAnswer>();
      return new Map([[first, answerOf(first, answered, request)]]);
    });
    const answers =
      together instanceof Map ? together : new Map<Fragment, FragmentAnswer>([[first, together]]);
    const left = fragments.filter((fragment) => !answers.has(fragment));
    const listed = await Promise.all(
      left.map((fragment) =>
        this.attempt(fragment, async () =>
          answerOf(fragment, await this.exchange(fragment, context, request, deadline), request),
        ),
      ),
    );
    left.forEach((fragment, at) => answers.set(fragment, listed[at] ?? UNREACHABLE));
    return answers;
  }

  private async attempt<Answer>(
    fragment: Fragment,
    ask: () => Promise<Answer>,
  ): Promise<Answer | typeof UNREACHABLE> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A source that hangs makes hundreds of these a second: no stacks.
      log.warn(reasonOf(fragment, error), 'A source of the timeline is unreachable');
      return UNREACHABLE;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool) => pool.destroy()));
  }

  /** undici ends what waits for a connection only when connecting has ended, by a clock that is half a second late. */
  private exchange(
    fragment: Fragment,
    context: RequestContext,
    request: TimelineRequest,
    deadline: Deadline,
    header: Record<string, string> = {},
  ): Promise<Answered> {
    return Promise.race([
      this.ask(fragment, context, pathOf(fragment, request), deadline.signal, header),
      deadline.passed,
    ]);
  }

  private async ask(
    fragment: Fragment,
    context: RequestContext,
    path: string,
    signal: AbortSignal,
    header: Record<string, string>,
  ): Promise<Answered> {
    const { statusCode, headers, body } = await this.pools[fragment.source].request({
      method: 'GET',
      path,
      headers: {
        accept: 'application/json',
        'x-correlation-id': context.correlationId,
        ...(context.authorization === undefined ? {} : { authorization: context.authorization }),
        ...traceHeaders(),
        ...header,
      },
      signal,
    });
    const type = headers['content-type'];
    return { status: statusCode, type: typeof type === 'string' ? type : '', text: await body.text() };
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

/** Returns what the log says of an error, without its stack. */
function reasonOf({ source, type }: Fragment, error: unknown): Record<string, string> {
  const { name, message } = error as Error;
  return { source, type, error: name, reason: message };
}

function headerOf(
  fragments: readonly Fragment[],
  { filters, after }: TimelineRequest,
): Record<string, string> {
  if (filters.length > 0) return {};
  const parts = fragments.map((fragment) => {
    const from = after(fragment);
    return [fragment.type, { fields: fieldsOf(fragment), ...(from ? { after: from } : {}) }] as const;
  });
  return { [TIMELINE_HEADER]: timelineHeader(Object.fromEntries(parts)) };
}

function pathOf(fragment: Fragment, { contactId, limit, after: afterOf, filters }: TimelineRequest): string {
  const query = new URLSearchParams({ sort: '-occurred_at', limit: String(limit) });
  const after = afterOf(fragment);
  if (after) {
    query.set('before_occurred_at', after.occurredAt);
    query.set('before_id', after.id);
  }
  for (const [name, value] of filters) query.append(name, value);
  const path = fragment.path(contactId);
  return `${path}${path.includes('?') ? '&' : '?'}${query.toString()}`;
}

/** What a status and a body mean to the timeline (crm.md §4). Throws for what makes the source unreachable. */
function answerOf(fragment: Fragment, { status, text }: Answered, request: TimelineRequest): FragmentAnswer {
  if (status === 200) return { kind: 'page', page: readSourcePage(fragment, text, request.after(fragment)) };
  if (status === 401) throw new Problem(credentialCodeOf(text));
  return answerOfStatus(status);
}

/**
 * The same of what a module told of its parts: of all, or of none where one of them is not understood. They were cut
 * together, so each stands for what it leaves out only beside the others.
 */
function answersOfParts(
  fragments: readonly Fragment[],
  text: string,
  request: TimelineRequest,
): Map<Fragment, FragmentAnswer> {
  try {
    const told = readTimelineParts(text);
    return new Map(fragments.map((fragment) => [fragment, answerOfPart(fragment, told, request)]));
  } catch (error) {
    const [first] = fragments;
    log.warn(first && reasonOf(first, error), 'What a module told of a timeline is not understood');
    return new Map();
  }
}

function answerOfPart(
  fragment: Fragment,
  told: ReadonlyMap<string, ToldPart>,
  request: TimelineRequest,
): FragmentAnswer {
  const part = told.get(fragment.type);
  if (!part) throw new TypeError('the answer lacks a part');
  if (!('items' in part)) return answerOfStatus(part.status);
  const page = readToldPage(fragment, part, request.after(fragment));
  // More of nothing at all would be asked for without end.
  const isEmpty = [...told.values()].every((each) => !('items' in each) || each.items.length === 0);
  return { kind: 'page', page: isEmpty ? { ...page, more: false } : page };
}

function answerOfStatus(status: number): FragmentAnswer {
  if (status === 403) return { kind: 'forbidden' };
  if (status === 404) return { kind: 'page', page: { items: [], more: false } };
  throw new Error(`it answered ${String(status)}`);
}

const CREDENTIAL_CODES: readonly ProblemCode[] = ['missing_credentials', 'token_expired'];

function credentialCodeOf(text: string): ProblemCode {
  return CREDENTIAL_CODES.find((code) => text.includes(`"code":"${code}"`)) ?? 'invalid_token';
}
