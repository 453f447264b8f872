import { AsyncLocalStorage } from 'node:async_hooks';

/** What every log line of one cause carries. */
interface Cause {
  readonly correlationId: string;
  organizationId?: string;
  /** Absent where nobody waits for an answer: of an event. */
  readonly answer?: AwaitedAnswer;
}

/** What a response says of whoever waits for it. */
interface AwaitedAnswer {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
}

const causes = new AsyncLocalStorage<Cause | undefined>();

/** The correlation id of what runs now: of the request, or of the event being handled; undefined outside both. */
export function currentCorrelationId(): string | undefined {
  return causes.getStore()?.correlationId;
}

/** What runs now runs for: one object a request or event, the same for all that it awaits; undefined outside both. */
export function currentCause(): object | undefined {
  return causes.getStore();
}

/** The organization of what runs now, once it is known. For log lines; authorization never reads it. */
export function currentOrganizationId(): string | undefined {
  return causes.getStore()?.organizationId;
}

/** Runs `work` and all it awaits under a correlation id. */
export function runWithCorrelation<T>(id: string, work: () => T, organizationId?: string): T {
  return causes.run({ correlationId: id, ...(organizationId ? { organizationId } : {}) }, work);
}

/** Runs `work` and all it awaits under the correlation id of a request that is being answered. */
export function runForCaller<T>(correlationId: string, answer: AwaitedAnswer, work: () => T): T {
  return causes.run({ correlationId, answer }, work);
}

/** Runs what many share under nobody's cause: it goes on though the one that set it going has left. */
export function runForNobody<T>(work: () => T): T {
  return causes.run(undefined, work);
}

/** Whether this runs for a request whose caller closed the connection before its answer. */
export function callerHasLeft(): boolean {
  const answer = causes.getStore()?.answer;
  return answer?.destroyed === true && !answer.writableEnded;
}

/** Notes the organization for the log lines of the running cause. */
export function noteOrganization(organizationId: string): void {
  const cause = causes.getStore();
  if (cause) cause.organizationId = organizationId;
}
