import type { Permission } from '@customer-platform/permissions';
import type { RequestContext } from './request-context.js';

/** A call that was refused for want of a permission. */
export interface RefusedCall {
  /** The permission that was missing. */
  readonly permission: Permission;
  /** The `:id` of the path, if it has one and it is a UUID. */
  readonly id?: string;
}

/** Keeps account of refused calls on routes that ask for it (`auditRefusals`). */
export interface RefusalRecorder {
  /** Resolves when it is kept; where it throws, that is the answer. */
  refused(context: RequestContext, call: RefusedCall): Promise<void>;
}

/** Injection token of the {@link RefusalRecorder}, needed by a module with such routes. */
export const REFUSAL_RECORDER = Symbol('RefusalRecorder');
