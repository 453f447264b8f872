import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { afterLocks, Clock, type Transaction } from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import { yieldLoop } from '@customer-platform/http';
import type { FieldError } from '@customer-platform/problem-json';
import {
  NOTHING_DECLARED,
  type DeclaredAttributes,
} from '../../../vocabulary/attributes/declared-attributes.js';
import { DeclaredAttributesReader } from '../../../following/declared-attributes.reader.js';
import { SegmentFollower, type ContactChange } from '../../../following/segment-follower.js';
import { ErasedIdentifiers, type Identifier } from '../../../blocklist/erased-identifiers.js';
import { ContactCounters } from '../contact-counters.js';
import { changedFields, eventOfChange } from '../contact.events.js';
import type { CellForms } from '../../../vocabulary/attributes/declared-cells.js';
import { faultsOfCells } from '../contact-fields.js';
import { ReadOnce, type NormalForms } from '../../../vocabulary/identities/identity-value.js';
import { keptForms } from '../../identities/kept-forms.js';
import { normalizeNationalId } from '../../../vocabulary/national-ids/national-id.js';
import { NationalIdVault } from '../../national-ids/national-id.vault.js';
import { identifiersNamed, keyOf, type BatchOptions, type BatchOutcome, type BatchRow } from './batch-row.js';
import { ContactDrafts, type DraftChange } from './contact-drafts.js';
import { KnownContacts, type OwnedIdentity, type SoughtNationalId } from './known-contacts.js';
import { writeDrafts } from './write-drafts.js';

/** Events of so many changes are made at once; between them others have their turn. */
const CHANGES_A_TURN = 250;
const ROWS_A_TURN = 100;

/** What became of a row, and whom it names. */
export interface BatchResult {
  readonly outcome: BatchOutcome;
  /** Keyed hashes of the identifiers that the row names, for what is kept of it; none of an erased person. */
  readonly subjects: readonly Buffer[];
}

/**
 * Creates and changes contacts by the hundred: the rules of `POST` and `PATCH /v1/core/contacts`, in a few statements for
 * all rows, and with segments told that nobody may be written to for it. Audit is the caller's: one row for many contacts.
 */
@Injectable()
export class ContactBatches {
  constructor(
    private readonly vault: NationalIdVault,
    private readonly blocklist: ErasedIdentifiers,
    private readonly outbox: Outbox,
    private readonly counters: ContactCounters,
    private readonly segments: SegmentFollower,
    private readonly clock: Clock,
    private readonly declared: DeclaredAttributesReader,
  ) {}

  /**
   * The outcomes, in the order of the rows; one is refused by itself, the others go on.
   * @throws WriteConflict when others change the same contacts meanwhile: the same batch passes when it begins anew
   */
  write(
    tx: Transaction,
    context: AuditContext,
    rows: readonly BatchRow[],
    options: BatchOptions,
  ): Promise<BatchResult[]> {
    const work = (declared: DeclaredAttributes): Promise<BatchResult[]> =>
      this.writeBy(declared, tx, context, rows, options);
    return rows.some(({ body }) => body.attributes) ? this.declared.within(tx, work) : work(NOTHING_DECLARED);
  }

  private async writeBy(
    declared: DeclaredAttributes,
    tx: Transaction,
    context: AuditContext,
    sent: readonly BatchRow[],
    options: BatchOptions,
  ): Promise<BatchResult[]> {
    const forms = new ReadOnce();
    const rows = await this.inKeptForms(tx, sent);
    const named = await inTurns(rows, ({ body }) => this.namedBy(tx.organizationId, body, forms));
    const known = new KnownContacts();
    await known.findOwners(
      tx,
      named.flatMap(({ identifiers }) => identifiers),
    );
    await known.findNationalIds(
      tx,
      named.flatMap(({ nationalId }) => nationalId ?? []),
    );
    const isUpdate = options.onExisting === 'update';
    const locking = isUpdate ? this.lockMatched(tx, known, rows, named, options, forms) : Promise.resolve();
    const [, now] = await afterLocks(this.clock, locking);
    const blocked = await this.blockedAmong(tx, named);
    const drafts = new ContactDrafts(tx.organizationId, known, this.vault, options, {
      now,
      declared,
      forms,
      cells: options.cells,
    });
    const outcomes = await inTurns(rows, async ({ body }, at): Promise<BatchOutcome> => {
      const own = await this.readByDraft(tx, known, drafts, body, named[at], forms);
      if (own) {
        named[at] = own;
        if ((await this.blockedAmong(tx, [own])).size > 0) blocked.add(at);
        else blocked.delete(at);
      }
      return blocked.has(at) ? ERASED : drafts.apply({ body }, named[at]?.identifiers ?? []);
    });
    if (!options.dryRun) await this.keep(tx, context, drafts, options, now);
    return outcomes.map((outcome, at) => ({
      outcome,
      subjects:
        outcome.outcome === 'failed' && !blocked.has(at) ? this.subjectsOf(tx.organizationId, named[at]) : [],
    }));
  }

  /** Whether the rows, of which no contact can be made, name erased people: then nothing of them is kept. */
  async subjects(tx: Transaction, sent: readonly BatchRow[]): Promise<(readonly Buffer[] | 'erased')[]> {
    const forms = new ReadOnce();
    const rows = await this.inKeptForms(tx, sent);
    const named = await inTurns(rows, ({ body }) => this.namedBy(tx.organizationId, body, forms));
    const blocked = await this.blockedAmong(tx, named);
    return named.map((each, at) => (blocked.has(at) ? 'erased' : this.subjectsOf(tx.organizationId, each)));
  }

  /** Finds faults of cells that fill attributes, in rows that are not written, by what is declared now. */
  async faultsOfCells(tx: Transaction, rows: readonly BatchRow[], cells: CellForms): Promise<FieldError[][]> {
    if (!rows.some(({ body }) => body.attributes)) return [];
    const declared = await this.declared.now(tx);
    return inTurns(rows, ({ body }) => faultsOfCells(body.attributes, declared, cells));
  }

  private async keep(
    tx: Transaction,
    context: AuditContext,
    { drafts, changes, yielded }: ContactDrafts,
    { source }: BatchOptions,
    now: Date,
  ): Promise<void> {
    await writeDrafts(tx, { drafts: [...drafts.values()], changes, yielded, source, now });
    for (let at = 0; at < changes.length; at += CHANGES_A_TURN) {
      const turn = changes.slice(at, at + CHANGES_A_TURN);
      await this.outbox.append(
        tx,
        turn.flatMap((change) => eventsOf(context, change)),
      );
    }
    await this.segments.contactsChanged(
      tx,
      changes.map((change) => followed(context, change)),
    );
    const created = changes.filter(({ change }) => change.verb === 'created').length;
    if (created > 0) await this.counters.count(tx, 'created', now, created);
  }

  /** The rows with their external ids as they are kept; the form of a row need not have been checked. */
  private async inKeptForms(tx: Transaction, rows: readonly BatchRow[]): Promise<readonly BatchRow[]> {
    const { organizationId } = tx;
    const named = ({ body }: BatchRow) => {
      const { external_id: value } = body as { external_id?: unknown };
      return typeof value === 'string' ? { organizationId, type: 'external_id', value } : undefined;
    };
    const kept = await keptForms(
      tx,
      this.blocklist,
      rows.flatMap((row) => named(row) ?? []),
    );
    return rows.map((row) => {
      const written = named(row);
      const externalId = written && kept(written);
      return externalId === written?.value ? row : { ...row, body: { ...row.body, external_id: externalId } };
    });
  }

  private namedBy(organizationId: string, body: BatchRow['body'], forms: NormalForms): Named {
    const identifiers = identifiersNamed(body, forms);
    const { national_id: sent } = body;
    const read = typeof sent?.value === 'string' ? normalizeNationalId(sent.type, sent.value) : undefined;
    if (!sent || !read || !('value' in read)) return { identifiers };
    const { index } = this.vault.seal(organizationId, sent.type, read.value);
    return { identifiers, nationalId: { type: sent.type, index } };
  }

  /** The places of rows that name an erased person. Asked once the owners were read, as ever. */
  private async blockedAmong(tx: Transaction, named: readonly Named[]): Promise<Set<number>> {
    if (named.length === 0 || !(await this.blocklist.hasAny(tx))) return new Set();
    const { organizationId } = tx;
    const sought = named.flatMap((each, at) =>
      allOf(each).map(({ type, normal }) => ({ organizationId, type, normal, at })),
    );
    return new Set([...(await this.blocklist.blocked(tx, sought))].map(({ at }) => at));
  }

  private async lockMatched(
    tx: Transaction,
    known: KnownContacts,
    rows: readonly BatchRow[],
    named: Named[],
    { matchBy }: BatchOptions,
    forms: NormalForms,
  ): Promise<void> {
    const owners = named.flatMap(({ identifiers }, at) => {
      const match = identifiers.find(({ type }) => type === matchBy);
      const owner = match && known.owners.get(keyOf(match));
      return owner && !owner.deleted ? [{ at, contactId: owner.contactId }] : [];
    });
    await known.lock(tx, [...new Set(owners.map(({ contactId }) => contactId))].sort());
    // A national number without a country is one of the contact's own, unless a row before changes that.
    for (const { at, contactId } of owners) {
      const { body } = rows[at] ?? {};
      if (!body || body.country != null || body.phone == null) continue;
      const identifiers = identifiersNamed(body, forms, known.contacts.get(contactId)?.country ?? null);
      named[at] = { ...named[at], identifiers };
    }
    await known.findOwners(
      tx,
      named.flatMap(({ identifiers }) => identifiers),
    );
  }

  /** What a row names where its number is one of a country that rows before have given its contact. */
  private async readByDraft(
    tx: Transaction,
    known: KnownContacts,
    drafts: ContactDrafts,
    body: BatchRow['body'],
    named: Named | undefined,
    forms: NormalForms,
  ): Promise<Named | undefined> {
    if (!named || body.country != null || body.phone == null) return undefined;
    const identifiers = identifiersNamed(body, forms, drafts.countryOf(named.identifiers));
    const before = new Set(named.identifiers.map(keyOf));
    if (identifiers.length === before.size && identifiers.every((each) => before.has(keyOf(each))))
      return undefined;
    await known.findOwners(tx, identifiers);
    return { ...named, identifiers };
  }

  private subjectsOf(organizationId: string, named: Named | undefined): Buffer[] {
    return named ? this.blocklist.hashesOf(organizationId, allOf(named)) : [];
  }
}

interface Named {
  readonly identifiers: readonly Identifier[];
  readonly nationalId?: SoughtNationalId;
}

function allOf({ identifiers, nationalId }: Named): Identifier[] {
  const own = nationalId ? [{ type: `national_id.${nationalId.type}`, normal: nationalId.index }] : [];
  return [...identifiers, ...own];
}

const ERASED: BatchOutcome = {
  outcome: 'failed',
  errors: [{ pointer: '', code: 'subject_erased', detail: 'The person was erased.' }],
};

/** As `map`, with turns of others in between. */
async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T, at: number) => R | Promise<R>,
): Promise<R[]> {
  const made: R[] = [];
  for (const [at, item] of items.entries()) {
    if (at % ROWS_A_TURN === ROWS_A_TURN - 1) await yieldLoop();
    made.push(await work(item, at));
  }
  return made;
}

function eventsOf(context: AuditContext, { change, added, removed }: DraftChange): NewDomainEvent[] {
  const { organizationId, correlationId } = context;
  const identity = (verb: 'added' | 'removed', { id, contactId, type }: OwnedIdentity): NewDomainEvent => ({
    type: `core.identity.${verb}.v1`,
    organizationId,
    key: contactId,
    subject: `identities/${id}`,
    correlationId,
    data: { contact_id: contactId, identity_id: id, type },
  });
  const { type, key, subject, data } = eventOfChange(change);
  return [
    { type, key, subject, data, organizationId, correlationId } as NewDomainEvent,
    ...removed.map((own) => identity('removed', own)),
    ...added.map((own) => identity('added', own)),
  ];
}

/** Segments are kept up, and nothing that follows from it leads to a message (core.md §7). */
function followed({ correlationId }: AuditContext, { change }: DraftChange): ContactChange {
  const contactId = change.row.id;
  if (change.verb === 'created') return { contactId, cause: 'import', correlationId };
  return { contactId, cause: 'import', fields: changedFields(change), correlationId };
}
