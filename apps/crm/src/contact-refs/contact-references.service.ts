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
    const id = reference.id.toLowerCase();
    for (;;) {
      const resolved = await this.contacts.resolve(organizationId, [id]);
      const contactId = demandActive(resolved.get(id), reference.pointer);
      const done = await this.database.inOrganization({ organizationId }, async (tx) => {
        if (!(await this.refs.keepActive(tx, contactId))) return undefined;
        const held = await this.holds.held(tx, 'core.contacts', [contactId]);
        if (held.size > 0) throw refused('reference_deleted', reference.pointer);
        return { result: await work(tx, contactId) };
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

/** Foreign, erased, purged and never there read the same. */
function demandActive(contact: ResolvedContact | undefined, pointer: string): string {
  if (!contact || contact.kind === 'absent') throw refused('reference_not_found', pointer);
  if (contact.deleted) throw refused('reference_deleted', pointer);
  return contact.id;
}

function refused(code: 'reference_not_found' | 'reference_deleted', pointer: string): Problem {
  const detail = code === 'reference_deleted' ? 'This contact is soft-deleted.' : 'There is no such contact.';
  return new Problem(code, { detail, errors: [{ pointer, code, detail }] });
}
