import { inspect, pointerToken, readPlainly } from '@customer-platform/http';
import { MAX_ERRORS, type FieldError } from '@customer-platform/problem-json';
import { SAID, type Said } from '../../vocabulary/consents/consent.js';
import type { NewConsent } from '../../people/consents/consent-recorder.js';
import { CreateContactDto } from '../../people/contacts/contact.dto.js';
import { isBlank, targetOf, type ImportOptions, type Target } from '../import-options.js';
import { readCsv, readJsonLine, type RecordFault } from './cells.js';
import type { RawRecord } from './record-splitter.js';

/** What is wrong with a row, and in which of its columns. */
export interface RowError {
  readonly column: string | null;
  readonly code: FieldError['code'] | RecordFault;
  /** What stands there, cut; null for what is shown to nobody. */
  readonly value: string | null;
  /** Says what was expected, where the code does not say all. Repeats no value. */
  readonly detail?: string;
}

/** A row as it was read. */
export interface ImportRow {
  readonly line: number;
  /** As far as it could be read, though it may have errors: whom the row names. */
  readonly body: CreateContactDto;
  readonly consents: readonly NewConsent[];
  /** {@link MAX_ERRORS} at most. */
  readonly errors: readonly RowError[];
}

/** So much of a value is repeated. */
const MOST_VALUE = 200;

interface Column {
  readonly name: string;
  readonly target: Target;
}

/** Reads rows of one file into what contacts are said to be. */
export class ImportRows {
  /** What a row may say of consents at most. */
  readonly consentsOfRow: number;
  private readonly targets: readonly (Column | undefined)[];
  private readonly byName = new Map<string, Column>();
  /** The names of columns by the pointer of what they fill. */
  private readonly columns = new Map<string, string>();

  constructor(
    private readonly options: ImportOptions,
    private readonly header: readonly string[],
  ) {
    const { mapping, format } = options;
    const names = format === 'csv' ? header : Object.keys(mapping);
    this.targets = names.map((name) => {
      const field = mapping[name] ?? null;
      const target = field === null ? undefined : targetOf(field);
      if (!target) return undefined;
      const column = { name, target };
      this.byName.set(name, column);
      this.columns.set(pointerOf(target), name);
      return column;
    });
    this.consentsOfRow = [...this.byName.values()].filter(({ target }) => target.kind === 'consent').length;
  }

  /** The rows of the records, in their order; one that is malformed has an error and names nobody. */
  async read(records: readonly RawRecord[]): Promise<ImportRow[]> {
    const rows = this.options.format === 'csv' ? this.fromCsv(records) : this.fromJson(records);
    return Promise.all(rows.map((row) => this.check(row)));
  }

  /** The column that a pointer of the contact's body stands for. */
  columnOf(pointer: string): Column | undefined {
    const name = this.columns.get(pointer) ?? this.columns.get(pointer.split('/').slice(0, 2).join('/'));
    return name === undefined ? undefined : this.byName.get(name);
  }

  /** What is wrong, as it is told of the row. */
  toError(row: Pick<ReadRow, 'given'>, { pointer = '', code, detail }: FieldError): RowError {
    const column = this.columnOf(pointer);
    if (!column) return { column: null, code, value: null, detail };
    return { column: column.name, code, value: shown(column, row.given.get(column.name)), detail };
  }

  /** What stood in the columns, again: errors that come later name values, too. */
  errorsOf(row: ImportRow, errors: readonly FieldError[]): RowError[] {
    const given = (row as ReadRow).given;
    return errors.slice(0, MAX_ERRORS).map((error) => this.toError({ given }, error));
  }

  private fromCsv(records: readonly RawRecord[]): ReadRow[] {
    const cells = readCsv(records, this.options, this.header.length);
    return records.map(({ line }, at) => {
      const read = cells[at] ?? { fault: 'malformed_row' };
      if ('fault' in read) {
        const name = read.column === undefined ? undefined : this.header[read.column];
        return faulty(line, read.fault, name);
      }
      const given = new Map<string, unknown>();
      const errors: RowError[] = [];
      for (const [index, name] of this.header.entries()) {
        const cell = read.cells[index] ?? '';
        if (isBlank(cell)) continue;
        const column = this.targets[index];
        if (column) given.set(column.name, cell);
        else if (isBlank(name) && errors.length < MAX_ERRORS)
          errors.push({ column: null, code: 'unknown_field', value: cut(cell) });
      }
      return this.readRow(line, given, errors);
    });
  }

  private fromJson(records: readonly RawRecord[]): ReadRow[] {
    const { mapping, encoding } = this.options;
    return records.map((record) => {
      const read = readJsonLine(record, encoding);
      if ('fault' in read)
        return faulty(record.line, read.fault, read.name === undefined ? null : cut(read.name));
      const given = new Map<string, unknown>();
      const errors: RowError[] = [];
      for (const [name, value] of Object.entries(read.row)) {
        if (!Object.hasOwn(mapping, name)) {
          if (errors.length < MAX_ERRORS)
            errors.push({ column: cut(name), code: 'unknown_field', value: null });
        } else if (this.byName.has(name)) given.set(name, value);
      }
      return this.readRow(record.line, given, errors);
    });
  }

  private readRow(line: number, given: Map<string, unknown>, errors: RowError[]): ReadRow {
    const body: Record<string, unknown> = {};
    const attributes: Record<string, unknown> = {};
    const consents: { purpose: string; channel: string | null; status: Said }[] = [];
    const details: Record<string, string> = {};
    const refuse = (name: string, code: RowError['code'], value: unknown): void => {
      if (errors.length < MAX_ERRORS) errors.push({ column: name, code, value: text(value) });
    };
    for (const [name, value] of given) {
      const target = this.byName.get(name)?.target;
      if (target?.kind === 'field') body[target.field] = value;
      else if (target?.kind === 'national_id') {
        body['national_id'] = value === null ? null : { type: target.type, value };
      } else if (target?.kind === 'attribute') attributes[target.key] = value;
      else if (value === null) continue;
      else if (target?.kind === 'consent_detail') {
        if (typeof value === 'string') details[target.detail] = value;
        else refuse(name, 'wrong_type', value);
      } else if (target) {
        const status = SAID.find((said) => said === value);
        if (status) consents.push({ purpose: target.purpose, channel: target.channel, status });
        else refuse(name, 'invalid_enum', value);
      }
    }
    // What a cell of CSV is as the declared type is read when it is written: by what is declared then.
    if (Object.keys(attributes).length > 0) body['attributes'] = attributes;
    const said = consents.map((consent) => ({ method: 'import', ...consent, ...details }));
    return { line, given, body, consents: said, errors };
  }

  private async check(row: ReadRow): Promise<ImportRow> {
    if (row.given.size === 0 && row.errors.length > 0) return row;
    const plain = readPlainly(CreateContactDto, row.body);
    if (plain) return { ...row, body: plain };
    const { instance, errors } = await inspect(CreateContactDto, row.body);
    const found = errors.named.map((error) => this.toError(row, error));
    return { ...row, body: instance, errors: [...row.errors, ...found].slice(0, MAX_ERRORS) };
  }
}

interface ReadRow extends ImportRow {
  /** What stands in the columns that are mapped. */
  readonly given: ReadonlyMap<string, unknown>;
}

function faulty(line: number, code: RowError['code'], column: string | null = null): ReadRow {
  const errors = [{ column, code, value: null }];
  return { line, given: new Map(), body: new CreateContactDto(), consents: [], errors };
}

function pointerOf(target: Target): string {
  switch (target.kind) {
    case 'field':
      return `/${target.field}`;
    case 'national_id':
      return '/national_id';
    case 'attribute':
      return `/attributes/${pointerToken(target.key)}`;
    case 'consent_detail':
      return `/consents/${target.detail}`;
    case 'consent':
      return `/consents/${target.purpose} ${target.channel ?? ''}`;
  }
}

/** A national id is shown to nobody. */
function shown({ target }: Column, value: unknown): string | null {
  return target.kind === 'national_id' ? null : text(value);
}

function text(value: unknown): string | null {
  if (value === undefined) return null;
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

function cut(value: string): string {
  return value.length <= MOST_VALUE ? value : value.slice(0, MOST_VALUE).toWellFormed();
}
