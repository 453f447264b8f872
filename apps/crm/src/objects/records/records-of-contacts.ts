import { Injectable } from '@nestjs/common';
import { ContactRefs, type Settled, type SettledRows } from '@customer-platform/contact-refs';
import type { ReferenceSource, Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { countErased } from '../../contact-refs/erasures-under-way.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import { KnownDefinitions } from '../definitions/known-definitions.js';
import {
  areConcerned,
  beginJobs,
  noteProgress,
  takeJob,
  type ContactRecordJob,
} from './contact-record-jobs.js';
import { goalOf, type Ends, type Goal, type Reference } from './reference-goals.js';
import { AT_ONCE, inRounds, removeRecords, without } from './record-rounds.js';

const RESOURCE = 'objects';
/** References of a contact that one piece looks at, most of which may be where they belong. */
const LOOKED_AT = 1_000;
const NOWHERE = '00000000-0000-0000-0000-000000000000';

/**
 * What core is told before it purges a contact. Records that a merge, or its undo, has not given to it yet stand under
 * another contact, and are the purged one's by their origin.
 */
export const OBJECTS_ON_CONTACTS: ReferenceSource = {
  to: 'core.contacts',
  resource: RESOURCE,
  count: `
    WITH RECURSIVE family AS (
      SELECT $2::uuid AS id
      UNION
      SELECT known.id FROM family JOIN contact_refs AS known
          ON known.organization_id = $1 AND known.merged_into = family.id)
    SELECT count(DISTINCT record_id)::int AS count FROM (
      SELECT record_id FROM object_references WHERE organization_id = $1 AND contact_id = $2
      UNION ALL
      SELECT own.record_id FROM contact_record_jobs AS job
        JOIN object_references AS own ON own.organization_id = $1 AND own.contact_id = job.contact_id
       WHERE job.organization_id = $1 AND $2 = ANY(job.contacts)
         AND own.origin_contact_id IN (SELECT id FROM family)) AS theirs`,
};

const REFERENCES = `
  SELECT own.* FROM unnest($2::uuid[], $3::uuid[]) AS given (contact_id, after)
   CROSS JOIN LATERAL (
     SELECT definition_id, record_id, field, contact_id, origin_contact_id AS origin FROM object_references
      WHERE organization_id = $1 AND contact_id = given.contact_id AND record_id > given.after
      ORDER BY record_id LIMIT ${String(LOOKED_AT)}) AS own
   ORDER BY own.contact_id, own.record_id, own.field`;
/** The contacts under whom records of these stand: the undo that parted them may be yet to be heard of. */
const HOLDERS = `
  SELECT DISTINCT contact_id AS id FROM object_references
   WHERE organization_id = $1 AND origin_contact_id = ANY($2::uuid[]) AND contact_id <> origin_contact_id`;
/** Of the same records to others whom the same work concerns: each record is removed, and counted, once. */
const BESIDES = `
  SELECT definition_id, record_id, field, contact_id, origin_contact_id AS origin FROM object_references
   WHERE organization_id = $1 AND record_id = ANY($2::uuid[]) AND contact_id = ANY($3::uuid[])`;
/** For the rest of the transaction: all is sought by keys, and no plan may read an organization's records whole. */
const BY_KEYS = `
  SELECT set_config(name, 'off', true)
    FROM unnest(ARRAY['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) AS name`;
const MOVE = `
  UPDATE object_references AS own SET contact_id = given.contact_id
    FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::uuid[]) AS given (record_id, field, contact_id, former)
   WHERE own.organization_id = $1 AND own.record_id = given.record_id AND own.field = given.field
     AND own.contact_id = given.former`;

/** A reference that is not where it belongs. */
interface Stray extends Reference {
  readonly goal: Exclude<Goal, 'stays'>;
}

/** A reference of a contact who is gone. */
interface Gone extends Reference {
  readonly of: string;
}

/** What a piece has to do of one contact. */
interface Look {
  readonly job: ContactRecordJob;
  readonly strays: readonly Stray[];
  readonly after: string | null;
  /** Whether nothing is left behind `after`. */
  readonly isLast: boolean;
}

/**
 * Records as rows that belong to the contacts that they refer to (crm.md §1, §5). A piece locks contacts, then the jobs of
 * these, then definitions, then records, as those who write records. A move changes no unique value and no count, so it
 * goes beside those who write other records. A removal reaches records that nobody has named, their unique values and
 * counts: it has the definitions for itself, for as long as its piece.
 *
 * Which records refer to the contacts is read before the records are locked: whoever had one meanwhile may have had it
 * refer to somebody else, so its values decide.
 */
@Injectable()
export class RecordsOfContacts implements SettledRows {
  readonly resource = RESOURCE;

  constructor(
    private readonly refs: ContactRefs,
    private readonly definitions: KnownDefinitions,
    private readonly outbox: Outbox,
  ) {}

  /** The first piece, in the transaction of what is told of the contacts, which has locked them. */
  async settle(tx: Transaction, contactIds: readonly string[]): Promise<Settled> {
    if (contactIds.length === 0) return { removed: 0, isDone: true };
    const family = await this.refs.withMerged(tx, ...contactIds);
    const holders = await tx.query<{ id: string }>(HOLDERS, [tx.organizationId, family]);
    const jobs = await beginJobs(tx, [...new Set([...family, ...holders.map(({ id }) => id)])]);
    const own = jobs.filter(({ contact_id: id }) => contactIds.includes(id));
    const rows = await referencesOf(tx, own);
    const settled = await this.piece(tx, own, { kept: new Set(contactIds), rows });
    return { ...settled, isDone: settled.isDone && !(await areConcerned(tx, contactIds)) };
  }

  /** A further piece of a job, unless it is over. */
  async goOn(tx: Transaction, job: ContactRecordJob): Promise<void> {
    const rows = await referencesOf(tx, [job]);
    const strays = straysOf(rows, await this.refs.ends(tx, contactsOf(rows)));
    const contacts = [job.contact_id, ...strays.flatMap(({ goal }) => goal.to ?? [])];
    await this.refs.keep(tx, contacts);
    const now = await takeJob(tx, job);
    // Otherwise somebody has done this piece meanwhile, or has it begin anew with rows that were not read.
    if (now?.version === job.version) await this.piece(tx, [now], { kept: new Set(contacts), rows });
  }

  /** @param kept the contacts that are locked: records are given to no others */
  private async piece(
    tx: Transaction,
    jobs: readonly ContactRecordJob[],
    { rows, kept }: { rows: readonly Reference[]; kept: ReadonlySet<string> },
  ): Promise<Settled> {
    await tx.query(BY_KEYS);
    const looks = looksOf(jobs, { rows, kept, ends: await this.refs.ends(tx, contactsOf(rows)) });
    const strays = looks.flatMap((look) => look.strays);
    const goes = strays.some(({ goal }) => goal.to === undefined);
    const ids = strays.map((each) => each.definition_id);
    const known = await (goes ? this.definitions.holdAll(tx, ids) : this.definitions.keepAll(tx, ids));
    await moveRecords(tx, strays, known);
    const gone = goes ? await this.withOthers(tx, strays, jobs) : [];
    const { removed, isWhole } = await this.remove(tx, gone, known);
    const uncounted = await countErased(tx, RESOURCE, removed);
    for (const { job, after, isLast } of looks) {
      const isOver = isLast && isWhole;
      await noteProgress(tx, job, isOver ? null : { after: isWhole ? after : job.cursor_id });
    }
    return { removed: uncounted, isDone: isWhole && looks.every(({ isLast }) => isLast) };
  }

  /** What goes of the records, also by other fields that name somebody whom the same jobs concern. */
  private async withOthers(
    tx: Transaction,
    strays: readonly Stray[],
    jobs: readonly ContactRecordJob[],
  ): Promise<Gone[]> {
    const going = goneOf(strays);
    const records = going.map((each) => each.record_id);
    const contacts = jobs.flatMap((job) => job.contacts);
    const rows = await tx.query<Reference>(BESIDES, [tx.organizationId, records, contacts]);
    const ends = await this.refs.ends(tx, contactsOf(rows));
    return goneOf(straysOf(rows, ends));
  }

  /** @returns of each record that went, or was cleared, whose it was */
  private async remove(
    tx: Transaction,
    gone: readonly Gone[],
    known: ReadonlyMap<string, KnownDefinition>,
  ): Promise<{ removed: string[][]; isWhole: boolean }> {
    const byRecord = Map.groupBy(gone, (each) => each.record_id);
    const going: string[] = [];
    const cleared: string[] = [];
    const round = { ids: [...byRecord.keys()], known, outbox: this.outbox };
    await inRounds(tx, round, ({ id, values }, definition) => {
      const lost = (byRecord.get(id) ?? []).filter((each) => values[each.field] === each.contact_id);
      const keys = lost.map(({ field }) => field);
      if (keys.every((key) => isCleared(definition, key))) {
        if (keys.length > 0) cleared.push(id);
        return without(values, keys);
      }
      going.push(id);
      return values;
    });
    const isWhole = await removeRecords(tx, { ids: going, known, outbox: this.outbox });
    const removed = isWhole ? [...cleared, ...going] : cleared;
    return {
      removed: removed.map((id) => (byRecord.get(id) ?? []).map((each) => each.of)),
      isWhole,
    };
  }
}

function goneOf(strays: readonly Stray[]): Gone[] {
  return strays.flatMap(({ goal, ...each }) => ('of' in goal ? [{ ...each, of: goal.of }] : []));
}

async function referencesOf(tx: Transaction, jobs: readonly ContactRecordJob[]): Promise<Reference[]> {
  if (jobs.length === 0) return [];
  const cursors = jobs.map((job) => job.cursor_id ?? NOWHERE);
  return tx.query<Reference>(REFERENCES, [tx.organizationId, jobs.map((job) => job.contact_id), cursors]);
}

/** As far as one piece goes, and no further than to what may not be touched now. */
function looksOf(
  jobs: readonly ContactRecordJob[],
  { rows, kept, ends }: { rows: readonly Reference[]; kept: ReadonlySet<string>; ends: Ends },
): Look[] {
  const chosen = new Set<string>();
  return jobs.map((job): Look => {
    const own = rows.filter((row) => row.contact_id === job.contact_id);
    const isAll = own.length < LOOKED_AT;
    // Of the last record not all fields may have been read.
    const cut = isAll ? undefined : own.at(-1)?.record_id;
    const strays: Stray[] = [];
    let after = job.cursor_id;
    for (const [id, ofRecord] of Map.groupBy(own, (row) => row.record_id)) {
      if (id === cut) break;
      const lost = straysOf(ofRecord, ends);
      const mayGo = lost.every(({ goal }) => goal.to === undefined || kept.has(goal.to));
      if (lost.length > 0 && (!mayGo || chosen.size === AT_ONCE))
        return { job, strays, after, isLast: false };
      if (lost.length > 0) chosen.add(id);
      strays.push(...lost);
      after = id;
    }
    return { job, strays, after, isLast: isAll };
  });
}

async function moveRecords(
  tx: Transaction,
  strays: readonly Stray[],
  known: ReadonlyMap<string, KnownDefinition>,
): Promise<void> {
  const moved = strays.flatMap(({ goal, ...each }) =>
    goal.to === undefined ? [] : [{ ...each, to: goal.to }],
  );
  if (moved.length === 0) return;
  const byRecord = Map.groupBy(moved, (each) => each.record_id);
  await inRounds(tx, { ids: [...byRecord.keys()], known, references: false }, ({ id, values }) => ({
    ...values,
    ...Object.fromEntries(
      (byRecord.get(id) ?? [])
        .filter((each) => values[each.field] === each.contact_id)
        .map((each) => [each.field, each.to]),
    ),
  }));
  await tx.query(MOVE, [
    tx.organizationId,
    moved.map((each) => each.record_id),
    moved.map(({ field }) => field),
    moved.map(({ to }) => to),
    moved.map((each) => each.contact_id),
  ]);
}

function isCleared({ fields }: KnownDefinition, key: string): boolean {
  return fields.some(
    (field) => field.key === key && field.type === 'reference' && field.on_erasure === 'clear',
  );
}

function straysOf(rows: readonly Reference[], ends: Ends): Stray[] {
  return rows.flatMap((row): Stray[] => {
    const goal = goalOf(row, ends);
    return goal === 'stays' ? [] : [{ ...row, goal }];
  });
}

function contactsOf(rows: readonly Reference[]): string[] {
  return [...new Set(rows.flatMap(({ contact_id: id, origin }) => [id, origin]))];
}
