import { Injectable } from '@nestjs/common';
import { InternalCallRefused, InternalClient } from '@customer-platform/authorization';
import { isUuid } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ContactRef, ContactState } from './contact-ref.js';

/** crm.md §1: how long core is waited for. */
const ASK_TIMEOUT_MS = 300;
/** As many ids as core takes in one call. */
export const IDS_AT_ONCE = 1_000;

const STATES: readonly ContactState[] = ['active', 'merged', 'deleted', 'erased'];

/** A contact as core answers it. */
export interface LookedUpContact extends ContactRef {
  /** The profile as it came; null or missing for a contact that has none of its own. */
  readonly contact: unknown;
}

/** Asks core for contacts. Never within a transaction: no connection waits for another module. */
@Injectable()
export class CoreContacts {
  constructor(private readonly internal: InternalClient) {}

  /**
   * The contacts of the organization with these ids, at most 1,000; those that core does not know are left out.
   * @throws Problem `dependency_unavailable` when core is silent
   */
  async lookUp(organizationId: string, ids: readonly string[]): Promise<LookedUpContact[]> {
    try {
      const answer = await this.internal.call<unknown>('core', {
        method: 'POST',
        path: '/internal/contacts/lookup',
        body: { organization_id: organizationId, ids },
        timeoutMs: ASK_TIMEOUT_MS,
      });
      return readAnswer(organizationId, answer);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A refusal or an answer that cannot be read is a defect between the modules; to the caller core is silent.
      const status = error instanceof InternalCallRefused ? error.status : undefined;
      log.error({ err: error, status }, 'Core did not answer a look-up of contacts');
      throw new Problem('dependency_unavailable', {
        detail: 'The module core does not answer; try again shortly.',
        cause: error,
      });
    }
  }
}

function readAnswer(organizationId: string, answer: unknown): LookedUpContact[] {
  const list = (answer as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(list)) throw new TypeError('The look-up has no data');
  return list.map((value: unknown) => readContact(organizationId, value));
}

function readContact(organizationId: string, value: unknown): LookedUpContact {
  const { id, state, merged_into: survivor = null, version, contact } = value as Record<string, unknown>;
  const known = STATES.find((each) => each === state);
  const merged = isId(survivor);
  if (!isId(id) || !known || !Number.isSafeInteger(version) || merged !== (known === 'merged')) {
    throw new TypeError('The look-up holds something that is no contact');
  }
  const mergedInto = merged ? survivor : null;
  return { organizationId, id, state: known, mergedInto, version: version as number, contact };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isUuid(value);
}
