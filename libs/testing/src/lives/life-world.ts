import type { Caller } from '../caller.js';
import type { Act } from './acts.js';
import type { CoreQuery } from './letter.js';
import type { LifeRecord } from './life-record.js';

/** The organization of a life. */
export interface LifeOrganization {
  readonly id: string;
  /** A caller of each instance that runs now; that of the first always does. */
  callers(): readonly [Caller, ...Caller[]];
}

/** The place where lives pass: the service by several instances at once, and what may stop beside the first. */
export interface LifeWorld {
  /** Acts that can happen here. */
  readonly acts: readonly Act[];
  /** Parts that may be stopped and started again, by name. All of them run between two lives. */
  readonly stoppable: readonly string[];
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  anOrganization(): Promise<LifeOrganization>;
  /** A client of a member, by a token that core has given. */
  member(token: string): Caller;
  readonly query: CoreQuery;
  /** Seals the national ids of an organization once more, as a change of the platform's keys does. */
  sealAnew(organizationId: string): Promise<void>;
  /** Has two calls wait for the contact at once, of which the first is let through first. */
  oneAfterTheOther<T, U>(
    contactId: string,
    first: () => Promise<T>,
    second: () => Promise<U>,
  ): Promise<[T, U]>;
  /** Resolves when a request to erase is completed by all modules. */
  completed(organization: LifeOrganization, requestId: string): Promise<void>;
  /** `table: text` of every place in any database where one of these texts stands. */
  search(organizationId: string, sought: readonly string[]): Promise<readonly string[]>;
  /** Holds what the other modules keep against what was done; throws while it is something else. */
  checkModules(organization: LifeOrganization, deeds: LifeRecord): Promise<void>;
}
