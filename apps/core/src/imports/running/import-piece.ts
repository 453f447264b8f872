import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import type { Transaction } from '@customer-platform/database';
import { inspect, yieldLoop } from '@customer-platform/http';
import { FieldErrors, MAX_ERRORS, Problem } from '@customer-platform/problem-json';
import { ConsentRecorder, type NewRecord, type PreparedConsent } from '../../consents/consent-recorder.js';
import { CreateConsentDto } from '../../consents/consent.dto.js';
import { ContactBatches, type BatchResult } from '../../contacts/batch/contact-batches.js';
import { ContactLookup } from '../../contacts/contact-lookup.js';
import { ImportFiles } from '../files/import-files.js';
import { contextOfImport, type ImportTableRow } from '../import.row.js';
import { recordForm } from '../reading/cells.js';
import { ImportRows, type ImportRow, type RowError } from '../reading/import-rows.js';
import { RecordSplitter, type RawRecord } from '../reading/record-splitter.js';

/** A piece reads no more than this of a file, whatever its rows are like. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Between so many rows others have their turn. */
const ROWS_A_TURN = 50;
/** A piece ends behind the turn in which it has come to so many. */
const ENOUGH_ERRORS = 5_000;

/** What is wrong with a row, and whom it names. */
export interface KeptError extends RowError {
  readonly line: number;
  /** Of all errors of a row the same array. */
  readonly subjects: readonly Buffer[];
}

/** How many rows came to which end. */
export type Tally = Record<'created' | 'updated' | 'unchanged' | 'skipped' | 'failed', number>;

/** What a piece came to. */
export interface DonePiece {
  readonly tally: Tally;
  readonly errors: readonly KeptError[];
  readonly next: { readonly at: number; readonly line: number };
  /** The file is at its end. */
  readonly ended: boolean;
}

/** What is done of a file at once: some rows, in the transaction that notes how far the import has come. */
@Injectable()
export class ImportPiece {
  constructor(
    private readonly files: ImportFiles,
    private readonly batches: ContactBatches,
    private readonly lookup: ContactLookup,
    private readonly consents: ConsentRecorder,
  ) {}

  /**
   * @param most rows of it
   * @throws FileMissing, FileDamaged; RaceLost, after which the same piece passes
   */
  async run(tx: Transaction, row: ImportTableRow, most: number): Promise<DonePiece> {
    const { records, ...read } = await this.read(row, most);
    let { next, ended } = read;
    const reader = new ImportRows(row.options, row.columns);
    const context = contextOfImport(row);
    const rows: CheckedRow[] = [];
    for (let at = 0, wrong = 0; at < records.length; at += ROWS_A_TURN) {
      const turn = records.slice(at, at + ROWS_A_TURN);
      const checked = await Promise.all(
        (await reader.read(turn)).map((one) => this.check(context, reader, one)),
      );
      rows.push(...checked);
      wrong += checked.reduce((sum, { errors }) => sum + errors.length, 0);
      const last = turn.at(-1);
      if (last && wrong >= ENOUGH_ERRORS && rows.length < records.length) {
        ({ next } = last);
        ended = false;
        break;
      }
      await yieldLoop();
    }
    const { true: bad = [], false: good = [] } = Object.groupBy(rows, ({ errors }) =>
      errors.length > 0 ? 'true' : 'false',
    );
    const { match_by: matchBy, on_existing: onExisting, dry_run: dryRun } = row.options;
    const options = { matchBy, onExisting, source: 'import', dryRun } as const;
    const results = await this.batches.write(tx, context, good, options);
    const withConsents = dryRun ? new Set<number>() : await this.recordConsents(tx, context, good, results);
    const tally: Tally = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: bad.length };
    for (const [at, { outcome }] of results.entries()) {
      const isNews = outcome.outcome === 'unchanged' && withConsents.has(at);
      tally[isNews ? 'updated' : outcome.outcome] += 1;
    }
    const errors = [...(await this.errorsOfBad(tx, bad)), ...errorsOfResults(reader, good, results)];
    return { tally, errors: errors.sort((one, other) => one.line - other.line), next, ended };
  }

  /** One row that cannot be done, whatever the cause: it is counted, and the file goes on behind it. */
  async passOver(row: ImportTableRow): Promise<DonePiece> {
    const { records, next, ended } = await this.read(row, 1);
    const errors = records.map(({ line }) => ({ line, ...internalError }));
    const tally = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: records.length };
    return { tally, errors, next, ended };
  }

  private async read(row: ImportTableRow, most: number): Promise<ReadRecords> {
    const from = Number(row.position);
    const bytes = Number(row.file_bytes);
    const splitter = new RecordSplitter(recordForm(row.options), from, row.line);
    const file = { organizationId: row.organization_id, id: row.id, key: row.file_key ?? '', bytes };
    const records: RawRecord[] = [];
    let read = 0;
    for await (const block of this.files.read(file, from)) {
      for (const record of splitter.push(block)) {
        records.push(record);
        if (records.length === most) return { records, next: record.next, ended: false };
      }
      read += block.length;
      // Of blank lines alone there may be more than a piece reads.
      const next = splitter.between ?? records.at(-1)?.next;
      if (next && read >= MOST_BYTES) return { records, next, ended: false };
      await yieldLoop();
    }
    const last = splitter.end();
    if (last) records.push(last);
    return { records, next: { at: bytes, line: last?.next.line ?? row.line }, ended: true };
  }

  /** Errors of consents come with those of the contact: the row is written whole or not at all. */
  private async check(context: AuditContext, reader: ImportRows, row: ImportRow): Promise<CheckedRow> {
    if (row.consents.length === 0) return { ...row, prepared: [] };
    const errors = new FieldErrors();
    for (const { purpose, channel, ...said } of row.consents) {
      if (errors.isFull) break;
      const found = await inspect(CreateConsentDto, { purpose, channel, ...said });
      for (const { pointer = '', ...error } of found.errors.named)
        errors.add({ ...error, pointer: `/consents${pointer}` });
    }
    let prepared: PreparedConsent[] = [];
    try {
      if (errors.total === 0) prepared = this.consents.prepareAll(context, row.consents, '/consents');
    } catch (error) {
      if (!(error instanceof Problem) || !error.errors) throw error;
      for (const { pointer = '', ...rest } of error.errors)
        errors.add({ ...rest, pointer: pointer.replace(/^\/consents\/\d+/, '/consents') });
    }
    const own = new Map(
      reader.errorsOf(row, errors.named).map((error) => [`${error.column ?? ''} ${error.code}`, error]),
    );
    return { ...row, prepared, errors: [...row.errors, ...own.values()].slice(0, MAX_ERRORS) };
  }

  /** The places of rows by which something was said that did not hold. */
  private async recordConsents(
    tx: Transaction,
    context: AuditContext,
    rows: readonly CheckedRow[],
    results: readonly BatchResult[],
  ): Promise<Set<number>> {
    const said = results.flatMap(({ outcome }, at) => {
      const prepared = rows[at]?.prepared ?? [];
      const isWritten = 'contactId' in outcome && outcome.outcome !== 'skipped';
      return isWritten && prepared.length > 0 ? [{ at, contactId: outcome.contactId, prepared }] : [];
    });
    if (said.length === 0) return new Set();
    const families = await this.lookup.familiesOf(tx, [...new Set(said.map(({ contactId }) => contactId))]);
    const places = new Map<string, number>();
    const records = said.flatMap(({ at, contactId, prepared }) =>
      prepared.map((one): NewRecord => {
        places.set(one.id, at);
        return { subject: { contactId, ids: families.get(contactId) ?? [contactId] }, prepared: one };
      }),
    );
    const recorded = await this.consents.recordAll(tx, context, records);
    return new Set(recorded.flatMap(({ id }) => places.get(id) ?? []));
  }

  /** Of an erased person nothing is kept but that there was a row. */
  private async errorsOfBad(tx: Transaction, bad: readonly CheckedRow[]): Promise<KeptError[]> {
    const subjects = await this.batches.subjects(tx, bad);
    return bad.flatMap(({ line, errors }, at): KeptError[] => {
      const named = subjects[at] ?? [];
      if (named === 'erased')
        return [{ line, column: null, code: 'subject_erased', value: null, subjects: [] }];
      return errors.map((error) => ({ ...error, line, subjects: named }));
    });
  }
}

interface ReadRecords extends Pick<DonePiece, 'next' | 'ended'> {
  readonly records: readonly RawRecord[];
}

interface CheckedRow extends ImportRow {
  readonly prepared: readonly PreparedConsent[];
}

const internalError = { column: null, code: 'internal_error', value: null, subjects: [] } as const;

function errorsOfResults(
  reader: ImportRows,
  rows: readonly CheckedRow[],
  results: readonly BatchResult[],
): KeptError[] {
  return results.flatMap(({ outcome, subjects }, at): KeptError[] => {
    const row = rows[at];
    if (!row || outcome.outcome !== 'failed') return [];
    return reader.errorsOf(row, outcome.errors).map((error) => ({ ...error, line: row.line, subjects }));
  });
}
