import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import type { Transaction } from '@customer-platform/database';
import { inspect, log, readPlainly, yieldLoop } from '@customer-platform/http';
import { FieldErrors, MAX_ERRORS, Problem } from '@customer-platform/problem-json';
import {
  ConsentRecorder,
  type NewRecord,
  type PreparedConsent,
} from '../../people/consents/consent-recorder.js';
import { CreateConsentDto } from '../../people/consents/consent.dto.js';
import { ContactBatches, type BatchResult } from '../../people/contacts/batch/contact-batches.js';
import type { CellForms } from '../../vocabulary/attributes/declared-cells.js';
import { ContactLookup } from '../../people/contacts/contact-lookup.js';
import { ImportFiles } from '../files/import-files.js';
import { contextOfImport, type ImportTableRow } from '../import.row.js';
import { recordForm } from '../reading/cells.js';
import { formIn } from '../reading/number-forms.js';
import { ImportRows, type ImportRow, type RowError } from '../reading/import-rows.js';
import { RecordSplitter, type RawRecord } from '../reading/record-splitter.js';

/** A piece reads no more than this of a file, whatever its rows are like. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Nor reads it for longer: PostgreSQL ends a transaction in which nothing was said for 30 s. */
const READ_WITHIN_MS = 10_000;
/** Between so many rows others have their turn. */
const ROWS_A_TURN = 50;
/** A piece ends behind the turn in which it has come to so many. */
const ENOUGH_ERRORS = 5_000;
/** A piece records no more, and checks no more than the second between others' turns: a row may have 500. */
const MOST_CONSENTS = 5_000;
const CONSENTS_A_TURN = 1_000;
/** Where rows may say much of consents so many times as many rows are read as could be done: most say less than they may. */
const READ_TIMES = 8;

/** What is wrong with a row, and whom it names. */
export interface KeptError extends RowError {
  readonly line: number;
  /** Of all errors of a row the same array. */
  readonly subjects: readonly Buffer[];
}

/** How many rows came to which end. */
type Tally = Record<'created' | 'updated' | 'unchanged' | 'skipped' | 'failed', number>;

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
  private ahead: Ahead | undefined;
  /** The import whose piece was the latest. */
  private latest: string | undefined;

  constructor(
    private readonly files: ImportFiles,
    private readonly batches: ContactBatches,
    private readonly lookup: ContactLookup,
    private readonly consents: ConsentRecorder,
  ) {}

  /**
   * @param most rows of it
   * @throws FileMissing, FileDamaged; WriteConflict, after which the same piece passes
   */
  async run(tx: Transaction, row: ImportTableRow, most: number): Promise<DonePiece> {
    const read = await this.take(row, most);
    this.readAhead(row, read, most);
    return this.write(tx, row, read);
  }

  /** Lets go of what was read ahead. */
  forget(): void {
    this.ahead = undefined;
    this.latest = undefined;
  }

  /** The piece that begins where the import stands, as it was read ahead, or read now. */
  private take(row: ImportTableRow, most: number): Promise<ReadPiece> {
    const { ahead } = this;
    if (!ahead || !this.isAhead(row.id, row.position, most)) return this.readPiece(row, most);
    this.ahead = undefined;
    // What went wrong then may not go wrong now.
    return ahead.piece.catch(() => this.readPiece(row, most));
  }

  /**
   * Reads and checks what follows while the database works on this piece: of an import that has had two turns one after
   * the other, for where imports take turns the piece would be another's. Nothing of it counts before its own turn.
   */
  private readAhead(row: ImportTableRow, { next, ended }: ReadPiece, most: number): void {
    const isAgain = this.latest === row.id;
    this.latest = row.id;
    if (!isAgain || ended || most === 1) return;
    const position = String(next.at);
    // Where this piece begins anew, what follows it is still the same.
    if (this.isAhead(row.id, position, most)) return;
    const piece = this.readPiece({ ...row, position, line: next.line }, most);
    piece.catch((error: unknown) => log.debug({ err: error }, 'A piece of an import was not read ahead'));
    this.ahead = { id: row.id, position, most, piece };
  }

  private isAhead(id: string, position: string, most: number): boolean {
    return this.ahead?.id === id && this.ahead.position === position && this.ahead.most === most;
  }

  private async readPiece(row: ImportTableRow, most: number): Promise<ReadPiece> {
    const reader = new ImportRows(row.options, row.columns);
    const { consentsOfRow } = reader;
    const rowsWith = (consents: number): number => Math.ceil(consents / Math.max(1, consentsOfRow));
    const { records, ...read } = await this.read(row, Math.min(most, rowsWith(READ_TIMES * MOST_CONSENTS)));
    let { next, ended } = read;
    const context = contextOfImport(row);
    const rows: CheckedRow[] = [];
    const rowsATurn = Math.min(ROWS_A_TURN, rowsWith(CONSENTS_A_TURN));
    const come = { errors: 0, consents: 0 };
    for (let at = 0; at < records.length; at += rowsATurn) {
      const turn = records.slice(at, at + rowsATurn);
      const checked = await Promise.all(
        (await reader.read(turn)).map((one) => this.check(context, reader, one)),
      );
      rows.push(...checked);
      come.errors += checked.reduce((sum, { errors }) => sum + errors.length, 0);
      come.consents += checked.reduce((sum, { prepared }) => sum + prepared.length, 0);
      const last = turn.at(-1);
      const isEnough =
        come.errors >= ENOUGH_ERRORS || come.consents + rowsATurn * consentsOfRow > MOST_CONSENTS;
      if (last && isEnough && rows.length < records.length) {
        ({ next } = last);
        ended = false;
        break;
      }
      await yieldLoop();
    }
    return { reader, rows, next, ended };
  }

  private async write(
    tx: Transaction,
    row: ImportTableRow,
    { reader, rows, next, ended }: ReadPiece,
  ): Promise<DonePiece> {
    const context = contextOfImport(row);
    const { true: bad = [], false: good = [] } = Object.groupBy(rows, ({ errors }) =>
      errors.length > 0 ? 'true' : 'false',
    );
    const { match_by: matchBy, on_existing: onExisting, dry_run: dryRun } = row.options;
    const cells =
      row.options.format === 'csv' ? (key: string) => formIn(row.options, row.number_forms, key) : undefined;
    const options = { matchBy, onExisting, source: 'import', dryRun, cells } as const;
    const results = await this.batches.write(tx, context, good, options);
    const withConsents = dryRun ? new Set<number>() : await this.recordConsents(tx, context, good, results);
    const tally: Tally = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: bad.length };
    for (const [at, { outcome }] of results.entries()) {
      const isNews = outcome.outcome === 'unchanged' && withConsents.has(at);
      tally[isNews ? 'updated' : outcome.outcome] += 1;
    }
    const told = cells ? await this.withCells(tx, reader, bad, cells) : bad;
    const errors = [...(await this.errorsOfBad(tx, told)), ...errorsOfResults(reader, good, results)];
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
    const until = performance.now() + READ_WITHIN_MS;
    for await (const block of this.files.read(file, from)) {
      for (const record of splitter.push(block)) {
        records.push(record);
        if (records.length === most) return { records, next: record.next, ended: false };
      }
      read += block.length;
      // Of blank lines alone there may be more than a piece reads.
      const next = splitter.between ?? records.at(-1)?.next;
      const isEnough = read >= MOST_BYTES || performance.now() > until;
      if (next && isEnough) return { records, next, ended: false };
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
      const consent = { purpose, channel, ...said };
      if (readPlainly(CreateConsentDto, consent)) continue;
      const found = await inspect(CreateConsentDto, consent);
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

  /** Rows that are not written, with what is wrong with the cells of their attributes beside. */
  private async withCells(
    tx: Transaction,
    reader: ImportRows,
    bad: readonly CheckedRow[],
    cells: CellForms,
  ): Promise<CheckedRow[]> {
    const faults = await this.batches.faultsOfCells(tx, bad, cells);
    return bad.map((row, at) => {
      const found = reader.errorsOf(row, faults[at] ?? []);
      return found.length === 0 ? row : { ...row, errors: [...row.errors, ...found].slice(0, MAX_ERRORS) };
    });
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

/** A piece as it was read and checked; nothing of it is written. */
interface ReadPiece extends Pick<DonePiece, 'next' | 'ended'> {
  readonly reader: ImportRows;
  readonly rows: readonly CheckedRow[];
}

interface Ahead {
  readonly id: string;
  readonly position: string;
  readonly most: number;
  readonly piece: Promise<ReadPiece>;
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
