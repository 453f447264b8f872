import { Injectable } from '@nestjs/common';
import { Database, ReferenceHolds, type Transaction } from '@customer-platform/database';
import type { FilterValue, ListQuery } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ResolvedContact } from './contact-ref.js';
import { ContactRefsRepository } from './contact-refs.repository.js';
import { ContactRefs } from './contact-refs.service.js';

/** A contact's id in a body, and where it stands there. */
export interface GivenReference {
  readonly id: string;
  readonly pointer: string;
}

/** Why an id cannot be referred to. */
export type RefusedReference = 'reference_not_found' | 'reference_deleted';

/** The active contact that an id stands for, or why there is none. */
export type ContactReference = { readonly contactId: string } | { readonly code: RefusedReference };

/** What the refusals say to people. */
export const REFUSALS: Readonly<Record<RefusedReference, string>> = {
  reference_not_found: 'There is no such contact.',
  reference_deleted: 'This contact is soft-deleted.',
};

/** What bodies and filters mean by the id of a contact (crm.md §1). */
@Injectable()
export class ContactReferences {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactRefs,
    private readonly refs: ContactRefsRepository,
    private readonly holds: ReferenceHolds,
  ) {}

  /**
   * Runs `work` for the active contact that the id stands for, in a transaction in which that contact stays active and
   * unmerged: what `work` writes is there before a merge moves, an erasure removes, or a purge counts the contact's rows.
   * @throws Problem `reference_not_found`, `reference_deleted`; `dependency_unavailable` when core must be asked and is
   * silent
   */
  async refer<T>(
    organizationId: string,
    reference: GivenReference,
    work: (tx: Transaction, contactId: string) => Promise<T>,
  ): Promise<T> {
    return this.referAll(organizationId, [reference.id], (tx, [found]) => {
      if (!found || 'code' in found)
        throw refusedReference(found?.code ?? 'reference_not_found', reference.pointer);
      return work(tx, found.contactId);
    });
  }

  /**
   * As `refer`, for up to 1,000 ids at once: `work` is told in their order what each stands for, or why it cannot be
   * referred to.
   * @throws Problem `dependency_unavailable` when core must be asked and is silent
   */
  async referAll<T>(
    organizationId: string,
    given: readonly string[],
    work: (tx: Transaction, references: readonly ContactReference[]) => Promise<T>,
  ): Promise<T> {
    const ids = given.map((id) => id.toLowerCase());
    for (;;) {
      const resolved = await this.contacts.resolve(organizationId, [...new Set(ids)]);
      const references = ids.map((id) => referenceTo(resolved.get(id)));
      const active = [...new Set(references.flatMap((each) => ('code' in each ? [] : [each.contactId])))];
      const done = await this.database.inOrganization({ organizationId }, async (tx) => {
        if ((await this.refs.keepActive(tx, active)).size < active.length) return undefined;
        const held = await this.holds.held(tx, 'core.contacts', active);
        const free = references.map((each) => ('code' in each || !held.has(each.contactId) ? each : DELETED));
        return { result: await work(tx, free) };
      });
      // Changed since it was resolved: what it stands for now decides. Every turn is a change that committed.
      if (done) return done.result;
    }
  }

  /** The list request with the survivors in place of merged contacts in its `contact_id` filters. */
  async resolveFilters(organizationId: string, query: ListQuery): Promise<ListQuery> {
    const named = query.filters.filter(({ field, op }) => field === 'contact_id' && op !== 'is_null');
    if (named.length === 0) return query;
    const ids = [...new Set(named.flatMap(({ values }) => values.map(String)))];
    const resolved = await this.contacts.resolve(organizationId, ids);
    const survivor = (value: FilterValue): FilterValue => {
      const contact = resolved.get(String(value));
      return contact?.kind === 'merged' ? contact.id : value;
    };
    const filters = query.filters.map((filter) =>
      named.includes(filter)
        ? { ...filter, value: survivor(filter.value), values: filter.values.map(survivor) }
        : filter,
    );
    return { ...query, filters };
  }
}

const DELETED = { code: 'reference_deleted' } as const;

/** Foreign, erased, purged and never there read the same. */
function referenceTo(contact: ResolvedContact | undefined): ContactReference {
  if (!contact || contact.kind === 'absent') return { code: 'reference_not_found' };
  return contact.deleted ? DELETED : { contactId: contact.id };
}

/** The refusal of one contact's id in a body. */
function refusedReference(code: RefusedReference, pointer: string): Problem {
  const detail = REFUSALS[code];
  return new Problem(code, { detail, errors: [{ pointer, code, detail }] });
}
