import { Injectable } from '@nestjs/common';
import { InternalCallRefused, InternalClient } from '@customer-platform/authorization';
import { Database, ReferenceHolds, type Transaction } from '@customer-platform/database';
import { log, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactRefs, type ChainEnd, type ContactState } from './contact-refs.js';

/** crm.md §1: how long core is waited for. */
const ASK_TIMEOUT_MS = 300;
/** How often core is asked for one call. */
const ROUNDS = 3;

interface LookupAnswer {
  data: {
    id: string;
    state: ContactState['state'] | 'erased';
    merged_into: string | null;
    version: number;
  }[];
}

/** The contact is not known here: core has to be asked, and no transaction may be open meanwhile. */
class ContactUnknown extends Error {
  constructor(readonly contactId: string) {
    super('The contact is not known here yet');
    this.name = 'ContactUnknown';
  }
}

/** Checks a contact in a path or a body (crm.md §1): from what is known here, else from core. */
@Injectable()
export class ContactLookup {
  constructor(
    private readonly database: Database,
    private readonly refs: ContactRefs,
    private readonly internal: InternalClient,
    private readonly holds: ReferenceHolds,
  ) {}

  /**
   * The id of the contact that stands for this one: itself, or its survivor.
   * @throws Problem `not_found` for one that is foreign, erased, purged or never was; `dependency_unavailable` when
   * core must be asked and is silent
   */
  async survivorOf(context: RequestContext, contactId: string): Promise<string> {
    const asked = new Set<string>();
    for (;;) {
      const { id, state, erased } = await this.database.inOrganization(context, (tx) =>
        this.endOf(tx, contactId),
      );
      if (erased || state === 'purged') throw new Problem('not_found');
      if (state !== undefined) return id;
      // Once for the id, once for each survivor that core names and that is not known here either.
      if (asked.has(id) || asked.size === ROUNDS) throw new Problem('not_found');
      asked.add(id);
      await this.learn(context, id);
    }
  }

  /**
   * Runs `work`, and again each time that core has been asked about a contact which `activeIn` did not know.
   * @throws Problem as `activeIn`; `dependency_unavailable` when core must be asked and is silent
   */
  async whileLearning<T>(context: RequestContext, work: () => Promise<T>): Promise<T> {
    const asked = new Set<string>();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ContactUnknown)) throw error;
        if (asked.has(error.contactId) || asked.size === ROUNDS) throw refused('reference_not_found');
        asked.add(error.contactId);
        await this.learn(context, error.contactId);
      }
    }
  }

  /**
   * The active contact that `contact_id` of a body stands for, itself or its survivor. It stays active and unmerged
   * until the transaction ends: what is written for it is there before a merge moves or a purge counts it. Within
   * `whileLearning`.
   * @throws Problem `reference_not_found`, `reference_deleted`
   */
  async activeIn(tx: Transaction, contactId: string): Promise<string> {
    for (;;) {
      const { id, state, erased } = await this.endOf(tx, contactId);
      if (erased || state === 'purged') throw refused('reference_not_found');
      if (state === undefined) throw new ContactUnknown(id);
      if (state === 'deleted') throw refused('reference_deleted');
      // Changed since it was looked at: what it stands for now decides. Every turn is a change that committed.
      if (!(await this.refs.keepActive(tx, [id])).has(id)) continue;
      const held = await this.holds.held(tx, 'core.contacts', [id]);
      if (held.size > 0) throw refused('reference_deleted');
      return id;
    }
  }

  private async endOf(tx: Transaction, contactId: string): Promise<ChainEnd> {
    const ends = await this.refs.ends(tx, [contactId]);
    return ends.get(contactId) ?? { id: contactId, state: undefined, erased: false };
  }

  private async learn(context: RequestContext, contactId: string): Promise<void> {
    const { data } = await this.askCore(context, contactId);
    const states = data.flatMap(({ id, state, merged_into: mergedInto, version }): ContactState[] =>
      state === 'erased' ? [] : [{ id, state, mergedInto, version }],
    );
    if (states.length > 0) await this.database.inOrganization(context, (tx) => this.refs.follow(tx, states));
  }

  private async askCore(context: RequestContext, contactId: string): Promise<LookupAnswer> {
    try {
      return await this.internal.call<LookupAnswer>('core', {
        method: 'POST',
        path: '/internal/contacts/lookup',
        body: { organization_id: context.organizationId, ids: [contactId] },
        timeoutMs: ASK_TIMEOUT_MS,
      });
    } catch (error) {
      if (!(error instanceof InternalCallRefused)) throw error;
      // A refusal is a defect between the modules; to the caller core is silent.
      log.error({ err: error, status: error.status }, 'core refused a look-up of contacts');
      throw new Problem('dependency_unavailable', {
        detail: 'The module core does not answer; try again shortly.',
        cause: error,
      });
    }
  }
}

/** Foreign, erased, purged and never there read the same. */
function refused(code: 'reference_not_found' | 'reference_deleted'): Problem {
  const detail = code === 'reference_deleted' ? 'This contact is soft-deleted.' : 'There is no such contact.';
  return new Problem(code, { detail, errors: [{ pointer: '/contact_id', code, detail }] });
}
