import { Injectable } from '@nestjs/common';
import { Database, ReferenceHolds, type Transaction } from '@customer-platform/database';
import { turns, type FilterValue, type ListQuery } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ChainEnd } from './contact-ref.js';
import { ContactRefs } from './contact-refs.js';
import { coreDoesNotAnswer, CoreContacts, IDS_AT_ONCE } from './core-contacts.js';

/** Core is asked at most so often for one call: for the ids, then for survivors that it named and that are not known. */
const ROUNDS = 3;

/** Core's rounds, and changes of these contacts that committed while they were looked at. */
const TURNS = 20;

/** What a contact's id stands for (crm.md §1). */
export type ResolvedContact =
  | { readonly kind: 'present'; readonly id: string; readonly deleted: boolean }
  /** `id` is the survivor at the end of all merges. */
  | { readonly kind: 'merged'; readonly id: string; readonly deleted: boolean }
  /** Foreign, erased, purged or never there: nobody may learn which. */
  | { readonly kind: 'absent' }
  /** What core answers of it cannot be read: whether it is there is not known. */
  | { readonly kind: 'unreadable' };

/** A contact's id in a body, and where it stands there. */
interface GivenReference {
  readonly id: string;
  readonly pointer: string;
}

/** Why an id cannot be referred to. */
export type RefusedReference = 'reference_not_found' | 'reference_deleted' | 'dependency_unavailable';

/** The active contact that an id stands for, or why there is none. */
export type ContactReference = { readonly contactId: string } | { readonly code: RefusedReference };

/** What the refusals say to people. */
export const REFUSALS: Readonly<Record<RefusedReference, string>> = {
  reference_not_found: 'There is no such contact.',
  reference_deleted: 'This contact is soft-deleted.',
  dependency_unavailable: 'What the module core answers of this contact cannot be read; try again later.',
};

/** What core has been asked for by one call: nobody is asked for twice. */
export class AskedContacts {
  private readonly ids = new Set<string>();
  private readonly odd = new Set<string>();
  private rounds = 0;

  /** Of these, those that core can still be asked for. */
  open(ids: readonly string[]): string[] {
    return this.rounds === ROUNDS ? [] : ids.filter((id) => !this.ids.has(id));
  }

  note(ids: readonly string[]): void {
    this.rounds += 1;
    for (const id of ids) this.ids.add(id);
  }

  noteUnreadable(ids: readonly string[]): void {
    for (const id of ids) this.odd.add(id);
  }

  /** Whether core answered something of it that cannot be read. */
  isUnreadable(id: string): boolean {
    return this.odd.has(id);
  }
}

/** The transaction has to be begun anew: core must be asked, which none may wait for, or a contact has changed. */
class LookAgain extends Error {
  override readonly name = 'LookAgain';
  constructor(readonly unknown: readonly string[]) {
    super('Contacts are not known here, or have changed');
  }
}

/** What paths, bodies and filters mean by the id of a contact (crm.md §1): from what is known here, else from core. */
@Injectable()
export class ContactReferences {
  constructor(
    private readonly database: Database,
    private readonly refs: ContactRefs,
    private readonly core: CoreContacts,
    private readonly holds: ReferenceHolds,
  ) {}

  /**
   * Resolves the ids (at most 1,000) within the organization; every id gets an answer.
   * @throws Problem `dependency_unavailable` when core has to be asked and is silent
   */
  async resolve(organizationId: string, ids: readonly string[]): Promise<Map<string, ResolvedContact>> {
    if (ids.length > IDS_AT_ONCE) throw new RangeError('At most 1,000 contacts can be resolved at once');
    return this.whileLearning(organizationId, (asked) =>
      this.inOneWay(organizationId, async (tx) => {
        const ends = await this.endsIn(tx, ids, asked);
        return new Map([...ends].map(([id, end]) => [id, resolved(id, end, asked)]));
      }),
    );
  }

  /** Resolves in one way to Postgres and back where ends take one statement. */
  private async inOneWay<T>(organizationId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (!this.refs.endsAtOnce) return this.database.inOrganization({ organizationId }, work);
    const [result] = await this.database.atOnce({ organizationId }, (tx) => [work(tx)] as const);
    return result;
  }

  /**
   * The id of the contact that stands for this one in a path: itself, or its survivor.
   * @throws Problem `not_found`; `dependency_unavailable` when core has to be asked and is silent
   */
  async survivorOf(organizationId: string, id: string): Promise<string> {
    const contact = (await this.resolve(organizationId, [id])).get(id);
    if (contact?.kind === 'unreadable') throw coreDoesNotAnswer();
    if (!contact || contact.kind === 'absent') throw new Problem('not_found');
    return contact.id;
  }

  /** The list request with the survivors in place of merged contacts in its `contact_id` filters. */
  async resolveFilters(organizationId: string, query: ListQuery): Promise<ListQuery> {
    const ids = contactsNamedIn(query);
    if (ids.length === 0) return query;
    const resolved = await this.resolve(organizationId, ids);
    return withSurvivors(query, (id) => {
      const contact = resolved.get(id);
      return contact?.kind === 'merged' ? contact.id : id;
    });
  }

  /**
   * Runs `work` for the active contact that the id stands for, in a transaction in which that contact stays active and
   * unmerged: what `work` writes is there before a merge moves, an erasure removes, or a purge counts the contact's rows.
   * @throws Problem `reference_not_found`, `reference_deleted`; `dependency_unavailable` when core must be asked and is
   * silent
   */
  refer<T>(
    organizationId: string,
    reference: GivenReference,
    work: (tx: Transaction, contactId: string) => Promise<T>,
  ): Promise<T> {
    return this.whileLearning(organizationId, (asked) =>
      this.database.inOrganization({ organizationId }, async (tx) =>
        work(tx, await this.activeIn(tx, reference, asked)),
      ),
    );
  }

  /**
   * As `refer`, for up to 1,000 ids at once: `work` is told in their order what each stands for, or why it cannot be
   * referred to.
   * @throws Problem `dependency_unavailable` when core must be asked and is silent
   */
  referAll<T>(
    organizationId: string,
    ids: readonly string[],
    work: (tx: Transaction, references: readonly ContactReference[]) => Promise<T>,
  ): Promise<T> {
    return this.whileLearning(organizationId, (asked) =>
      this.database.inOrganization({ organizationId }, async (tx) =>
        work(tx, await this.referencesIn(tx, ids, asked)),
      ),
    );
  }

  /**
   * Runs `work`, which opens a transaction and calls `activeIn` in it, and again each time that core has been asked
   * about a contact that was not known, or that a contact changed before it could be kept.
   * @throws Problem `dependency_unavailable` when core must be asked and is silent, or contacts do not stop changing
   */
  async whileLearning<T>(organizationId: string, work: (asked: AskedContacts) => Promise<T>): Promise<T> {
    const asked = new AskedContacts();
    for await (const _ of turns({ most: TURNS })) {
      try {
        return await work(asked);
      } catch (error) {
        if (!(error instanceof LookAgain)) throw error;
        // Without an unknown one, every turn is a change that committed: what it stands for now decides.
        if (error.unknown.length === 0) continue;
        asked.note(error.unknown);
        const { contacts, unreadable } = await this.core.lookUp(organizationId, error.unknown);
        asked.noteUnreadable(unreadable);
        if (contacts.length === 0) continue;
        const learning = (tx: Transaction): Promise<void> => this.refs.learn(tx, contacts);
        await this.database.inOrganization({ organizationId }, learning, { alone: true });
      }
    }
    const detail = 'The contacts named keep changing; try again shortly.';
    throw new Problem('dependency_unavailable', { detail });
  }

  /**
   * The active contact that the id in a body stands for. It stays active and unmerged until the transaction ends.
   * Within `whileLearning`.
   * @throws Problem `reference_not_found`, `reference_deleted`; `dependency_unavailable` when what core answers of it
   * cannot be read
   */
  async activeIn(tx: Transaction, { id, pointer }: GivenReference, asked: AskedContacts): Promise<string> {
    const [reference] = await this.referencesIn(tx, [id], asked);
    if (reference && 'contactId' in reference) return reference.contactId;
    const code = reference?.code ?? 'reference_not_found';
    if (code === 'dependency_unavailable') throw coreDoesNotAnswer();
    const detail = REFUSALS[code];
    throw new Problem(code, { detail, errors: [{ pointer, code, detail }] });
  }

  private async referencesIn(
    tx: Transaction,
    ids: readonly string[],
    asked: AskedContacts,
  ): Promise<ContactReference[]> {
    const ends = await this.endsIn(tx, ids, asked);
    const references = ids.map((id) => referenceTo(ends.get(id), asked));
    const active = [...new Set(references.flatMap((each) => ('code' in each ? [] : [each.contactId])))];
    if ((await this.refs.keepActive(tx, active)).size < active.length) throw new LookAgain([]);
    const held = await this.holds.held(tx, 'core.contacts', active);
    return references.map((each) => ('code' in each || !held.has(each.contactId) ? each : DELETED));
  }

  private async endsIn(
    tx: Transaction,
    ids: readonly string[],
    asked: AskedContacts,
  ): Promise<Map<string, ChainEnd>> {
    const ends = await this.refs.ends(tx, ids);
    const unknown = [...ends.values()].flatMap(({ id, state }) => (state === undefined ? [id] : []));
    const open = asked.open([...new Set(unknown)]);
    if (open.length > 0) throw new LookAgain(open);
    return ends;
  }
}

const DELETED = { code: 'reference_deleted' } as const;
const UNREADABLE = { code: 'dependency_unavailable' } as const;

/** Foreign, erased, purged and never there read the same. */
function referenceTo(end: ChainEnd | undefined, asked: AskedContacts): ContactReference {
  if (end?.state === 'active') return { contactId: end.id };
  if (end && end.state === undefined && asked.isUnreadable(end.id)) return UNREADABLE;
  return end?.state === 'deleted' ? DELETED : { code: 'reference_not_found' };
}

function resolved(given: string, { id, state }: ChainEnd, asked: AskedContacts): ResolvedContact {
  if (state === undefined && asked.isUnreadable(id)) return { kind: 'unreadable' };
  if (state !== 'active' && state !== 'deleted') return { kind: 'absent' };
  return { kind: id === given.toLowerCase() ? 'present' : 'merged', id, deleted: state === 'deleted' };
}

/** The ids in a list request's `contact_id` filters. */
function contactsNamedIn({ filters }: ListQuery): string[] {
  const named = filters.filter(namesContacts);
  return [...new Set(named.flatMap(({ values }) => values.map(String)))];
}

/** The list request with the survivors in place of merged contacts in its `contact_id` filters. */
function withSurvivors(query: ListQuery, survivorOf: (id: string) => string): ListQuery {
  const survivor = (value: FilterValue): FilterValue => survivorOf(String(value));
  const filters = query.filters.map((filter) =>
    namesContacts(filter)
      ? { ...filter, value: survivor(filter.value), values: [...new Set(filter.values.map(survivor))] }
      : filter,
  );
  return { ...query, filters };
}

function namesContacts({ field, op }: ListQuery['filters'][number]): boolean {
  return field === 'contact_id' && op !== 'is_null';
}
