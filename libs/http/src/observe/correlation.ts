import { AsyncLocalStorage } from 'node:async_hooks';

/** What every log line of one cause carries. */
interface Cause {
  readonly correlationId: string;
  organizationId?: string;
}

const causes = new AsyncLocalStorage<Cause>();

/** The correlation id of what runs now: of the request, or of the event being handled; undefined outside both. */
export function currentCorrelationId(): string | undefined {
  return causes.getStore()?.correlationId;
}

/** The organization of what runs now, once it is known. For log lines; authorization never reads it. */
export function currentOrganizationId(): string | undefined {
  return causes.getStore()?.organizationId;
}

/** Runs `work` and all it awaits under a correlation id. */
export function runWithCorrelation<T>(id: string, work: () => T, organizationId?: string): T {
  return causes.run({ correlationId: id, ...(organizationId ? { organizationId } : {}) }, work);
}

/** Notes the organization for the log lines of the running cause. */
export function noteOrganization(organizationId: string): void {
  const cause = causes.getStore();
  if (cause) cause.organizationId = organizationId;
}
