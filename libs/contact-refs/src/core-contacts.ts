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

/** What core answered of contacts. */
interface LookUp {
  readonly contacts: readonly LookedUpContact[];
  /**
   * Of the ids that were asked for, those that the answer tells something of which cannot be read: nobody may take them
   * for unknown to core.
   */
  readonly unreadable: readonly string[];
}

/** Asks core for contacts. Never within a transaction: no connection waits for another module. */
@Injectable()
export class CoreContacts {
  constructor(private readonly internal: InternalClient) {}

  /**
   * The contacts of the organization with these ids, at most 1,000; those that core does not know are left out. One that
   * cannot be read keeps no other from being learnt.
   * @throws Problem `dependency_unavailable` when core is silent
   */
  async lookUp(organizationId: string, ids: readonly string[]): Promise<LookUp> {
    try {
      const answer = await this.internal.call<unknown>('core', {
        method: 'POST',
        path: '/internal/contacts/lookup',
        body: { organization_id: organizationId, ids },
        timeoutMs: ASK_TIMEOUT_MS,
      });
      return readAnswer(organizationId, ids, answer);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A refusal or an answer that cannot be read is a defect between the modules; to the caller core is silent.
      const status = error instanceof InternalCallRefused ? error.status : undefined;
      log.error({ err: error, status }, 'Core did not answer a look-up of contacts');
      throw coreDoesNotAnswer(error);
    }
  }
}

/** Of a contact that core cannot be asked about now. */
export function coreDoesNotAnswer(cause?: unknown): Problem {
  return new Problem('dependency_unavailable', {
    detail: 'The module core does not answer; try again shortly.',
    cause,
  });
}

function readAnswer(organizationId: string, ids: readonly string[], answer: unknown): LookUp {
  const list = (answer as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(list)) throw new TypeError('The look-up has no data');
  const contacts: LookedUpContact[] = [];
  const odd: unknown[] = [];
  for (const value of list as unknown[]) {
    const contact = readContact(organizationId, value);
    if (contact) contacts.push(contact);
    else odd.push((value as { id?: unknown } | null)?.id);
  }
  if (odd.length > 0)
    log.error({ contacts: odd.length }, 'A look-up of contacts in core holds what is no contact');
  return { contacts, unreadable: unreadableOf(ids, contacts, odd) };
}

/** What does not even say whose it is may be of any that was not answered otherwise. */
function unreadableOf(
  ids: readonly string[],
  contacts: readonly LookedUpContact[],
  odd: readonly unknown[],
): string[] {
  if (odd.length === 0) return [];
  const answered = new Set(contacts.map(({ id }) => id.toLowerCase()));
  const open = ids.filter((id) => !answered.has(id.toLowerCase()));
  if (!odd.every(isId)) return open;
  const named = new Set(odd.map((id) => id.toLowerCase()));
  return open.filter((id) => named.has(id.toLowerCase()));
}

function readContact(organizationId: string, value: unknown): LookedUpContact | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, state, merged_into: survivor = null, version, contact } = value as Record<string, unknown>;
  const known = STATES.find((each) => each === state);
  const merged = isId(survivor);
  if (!isId(id) || !known || !Number.isSafeInteger(version) || merged !== (known === 'merged'))
    return undefined;
  const mergedInto = merged ? survivor : null;
  return { organizationId, id, state: known, mergedInto, version: version as number, contact };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isUuid(value);
}
