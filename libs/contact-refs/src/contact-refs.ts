import { bigints, byteas, texts, type Transaction, uuids } from '@customer-platform/database';
import { contactKey, newestOf, type ChainEnd, type ContactId, type ContactRef } from './contact-ref.js';
import { contactStatements, type ProfileColumns } from './contact-statements.js';

/** How a module keeps what it knows of contacts. */
interface ContactRefsOptions {
  /** `contact_refs` unless given; trusted. */
  readonly table?: string;
  /** What else the rows of the table hold. */
  readonly profile?: ProfileColumns;
  /** For a module that keeps not even the ids of erased contacts, but these in `erased_contacts`; keyed. */
  readonly hashOf?: (contact: ContactId) => Buffer;
}

interface WrittenRow {
  readonly organization_id: string;
  readonly id: string;
  /** Not there before. */
  readonly added: boolean;
}

interface EndRow {
  readonly asked: string;
  readonly id: string;
  readonly state: ChainEnd['state'] | null;
}

/**
 * What a module knows of core's contacts, followed from core's events and learnt from its answers. The version of a
 * contact is all the idempotence it needs: what comes again, or late, changes nothing.
 */
export class ContactRefs {
  private readonly statements: ReturnType<typeof contactStatements>;
  private readonly hashOf: ContactRefsOptions['hashOf'];

  constructor({ table = 'contact_refs', profile, hashOf }: ContactRefsOptions = {}) {
    this.statements = contactStatements({ table, profile, hashed: hashOf !== undefined });
    this.hashOf = hashOf;
  }

  /**
   * Takes over what is newer than what is known, of any organizations that the transaction sees. Writers of the same
   * contacts come in one order, so that they wait for each other instead of deadlocking.
   */
  async write(tx: Transaction, refs: readonly ContactRef[]): Promise<void> {
    if (refs.length === 0) return;
    const rows = newestOf(refs);
    const written = await tx.prepared<WrittenRow>(this.statements.write, [
      uuids(rows.map(({ organizationId }) => organizationId)),
      uuids(rows.map(({ id }) => id)),
      // Where erased contacts have no rows, one that a snapshot tells of stays away like a deleted one until it is erased.
      texts(rows.map(({ state }) => (state === 'erased' && this.hashOf ? 'deleted' : state))),
      uuids(rows.map(({ mergedInto }) => mergedInto)),
      bigints(rows.map(({ version }) => version)),
      ...this.hashes(rows),
    ]);
    await this.removeErased(tx, written);
  }

  /** Takes over what core answered when it was asked. */
  async learn(tx: Transaction, refs: readonly ContactRef[]): Promise<void> {
    await this.write(
      tx,
      refs.filter(({ state }) => state !== 'erased' || !this.hashOf),
    );
  }

  /** Takes over that contacts of the transaction's organization are purged or erased. */
  async end(tx: Transaction, refs: readonly ContactRef[]): Promise<void> {
    const erased = this.hashOf ? refs.filter(({ state }) => state === 'erased') : [];
    await this.write(
      tx,
      refs.filter((ref) => !erased.includes(ref)),
    );
    await this.erase(
      tx,
      erased.map(({ id }) => id),
    );
  }

  /** Nothing brings these contacts back; waits for whoever writes a row that belongs to one of them. */
  async erase(tx: Transaction, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { organizationId } = tx;
    const given = uuids([...new Set(ids)]);
    // With hashes, too: whoever adds a row of one of them at this moment is waited for, and what they add is removed.
    await tx.query(this.statements.erase, [organizationId, given]);
    if (!this.hashOf) return;
    const hashes = this.hashes(ids.map((id) => ({ organizationId, id })));
    await tx.query(this.statements.remember, [organizationId, ...hashes]);
    await tx.query(this.statements.remove, [organizationId, given]);
  }

  /**
   * Parts from these contacts, who are erased, whoever is merged into one of them by what is known and is not among them:
   * core names everybody whom it erases, and the news of the undo may be late, or may have gone with the erased.
   * @returns who has parted
   */
  async part(tx: Transaction, erased: readonly string[]): Promise<ContactRef[]> {
    const rows = await tx.query<{ id: string; version: string }>(this.statements.part, [
      tx.organizationId,
      uuids(erased),
    ]);
    const { organizationId } = tx;
    const now = { organizationId, state: 'active', mergedInto: null } as const;
    return rows.map(({ id, version }) => ({ ...now, id, version: Number(version) }));
  }

  /** The contacts, and those that were merged into them and are known still. */
  async withMerged(tx: Transaction, ...ids: readonly string[]): Promise<string[]> {
    const values = [tx.organizationId, uuids(ids)];
    const rows = await tx.query<{ id: string }>(this.statements.mergedInto, values);
    return rows.map((row) => row.id);
  }

  /** Of these, by `contactKey`, those that have been erased. */
  async erased(tx: Transaction, contacts: readonly ContactId[]): Promise<Set<string>> {
    if (contacts.length === 0) return new Set();
    const rows = await tx.prepared<{ organization_id: string; id: string }>(this.statements.erased, [
      uuids(contacts.map(({ organizationId }) => organizationId)),
      uuids(contacts.map(({ id }) => id)),
      ...this.hashes(contacts),
    ]);
    return new Set(rows.map(({ organization_id: organizationId, id }) => contactKey({ organizationId, id })));
  }

  /** True where `ends` needs one statement. */
  get endsAtOnce(): boolean {
    return this.hashOf === undefined;
  }

  /** Where each of the contacts of the transaction's organization ends; every id that is asked for has an answer. */
  async ends(tx: Transaction, ids: readonly string[]): Promise<Map<string, ChainEnd>> {
    if (ids.length === 0) return new Map();
    const { organizationId } = tx;
    const contacts = [...new Set(ids.map((id) => id.toLowerCase()))].map((id) => ({ organizationId, id }));
    const rows = await tx.prepared<EndRow>(this.statements.ends, [
      uuids(contacts.map(() => organizationId)),
      uuids(contacts.map(({ id }) => id)),
      ...this.hashes(contacts),
    ]);
    const forgotten = await this.forgottenSurvivors(tx, rows);
    const ends = new Map(
      rows.map(({ asked, id, state }): [string, ChainEnd] => [
        asked,
        { id, state: forgotten.has(contactKey({ organizationId, id })) ? 'erased' : (state ?? undefined) },
      ]),
    );
    return new Map(ids.map((id) => [id, ends.get(id.toLowerCase()) ?? { id, state: undefined }]));
  }

  /**
   * Keeps active contacts from being merged, deleted or erased here until the transaction ends, and answers which they
   * are: not those that are no longer active after waiting for whoever changes them. Locks in one order for all.
   */
  async keepActive(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const rows = await tx.query<{ id: string }>(this.statements.keepActive, [
      tx.organizationId,
      uuids([...new Set(ids)]),
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Keeps contacts as they are, in whatever state, until the transaction ends. Locks in one order for all. */
  async keep(tx: Transaction, ids: readonly string[]): Promise<void> {
    await tx.query(this.statements.keep, [tx.organizationId, uuids([...new Set(ids)])]);
  }

  /** A survivor with everyone merged into it. A merged id means its survivor. */
  async family(tx: Transaction, id: string): Promise<string[]> {
    const { organizationId } = tx;
    const rows = await tx.query<{ id: string }>(this.statements.family, [
      uuids([organizationId]),
      uuids([id]),
      organizationId,
    ]);
    return rows.map((row) => row.id);
  }

  /**
   * With hashes, takes away rows that were added for contacts whose erasure committed in between: the statement that
   * added them did not see it. One that is going on waits for these rows, and takes them away itself.
   */
  private async removeErased(tx: Transaction, written: readonly WrittenRow[]): Promise<void> {
    const added = written.flatMap((row) =>
      row.added ? [{ organizationId: row.organization_id, id: row.id }] : [],
    );
    if (!this.hashOf || added.length === 0) return;
    await tx.prepared(this.statements.removeErased, [
      uuids(added.map(({ organizationId }) => organizationId)),
      uuids(added.map(({ id }) => id)),
      ...this.hashes(added),
    ]);
  }

  /** With hashes, a survivor may be erased while whoever was merged into it is not yet. */
  private async forgottenSurvivors(tx: Transaction, rows: readonly EndRow[]): Promise<Set<string>> {
    if (!this.hashOf) return new Set();
    const unknown = rows.filter(({ asked, id, state }) => id !== asked && state === null);
    return this.erased(
      tx,
      unknown.map(({ id }) => ({ organizationId: tx.organizationId, id })),
    );
  }

  private hashes(contacts: readonly ContactId[]): Buffer[] {
    const { hashOf } = this;
    return hashOf ? [byteas(contacts.map((contact) => hashOf(contact)))] : [];
  }
}
