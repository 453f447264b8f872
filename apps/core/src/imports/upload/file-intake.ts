import { createHash } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';
import { demandMapped, type ImportOptions } from '../import-options.js';
import { readHeader, readNames, recordForm } from '../reading/cells.js';
import { NumberForms, type FormsOfNumbers } from '../reading/number-forms.js';
import { RecordSplitter, type RawRecord } from '../reading/record-splitter.js';
import { noRoom } from '../waiting-imports.js';

/** Of the content, after inflating (core.md §9). */
export const MOST_FILE_BYTES = 512 * 1024 * 1024;
/** Without the header. Blank lines are no rows, and yet there may be no more of both together: each is read. */
const MOST_ROWS = 1_000_000;
/** A record that is longer than one may be is passed over, row by row; none makes a piece read without end. */
const LONGEST_PASSED_OVER = 16 * 1024 * 1024;

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF_16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** What was learned of a file while it came. */
export interface TakenFile {
  readonly columns: readonly string[];
  readonly numberForms: FormsOfNumbers | null;
  readonly bytes: number;
  readonly rows: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
  /** Where the first row begins, and on which line. */
  readonly start: { readonly at: number; readonly line: number };
}

/** Looks at the content of a file as it comes, and refuses what cannot be imported as soon as that is seen. */
export class FileIntake {
  private readonly hash = createHash('sha256');
  private splitter: RecordSplitter | undefined;
  /** Too few to tell whether there is a byte order mark. */
  private first: Buffer | undefined = Buffer.alloc(0);
  private columns: readonly string[] | undefined;
  private forms: NumberForms | undefined;
  /** Rows whose cells were not looked at yet. */
  private fresh: RawRecord[] = [];
  private start = { at: 0, line: 1 };
  private bytes = 0;
  private rows = 0;

  /** @param room in bytes, which the organization still has */
  constructor(
    private readonly options: ImportOptions,
    private readonly room = MOST_FILE_BYTES,
  ) {}

  /** @throws Problem `body_too_large`, `invalid_mapping`, `malformed_request`, `limit_reached` */
  take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > MOST_FILE_BYTES) throw tooLarge('The content of the file is larger than 512 MiB.');
    if (this.bytes > this.room) throw noRoom();
    this.hash.update(chunk);
    if (this.first === undefined) return this.look(chunk);
    this.first = Buffer.concat([this.first, chunk]);
    if (this.first.length >= BOM.length) this.begin();
  }

  /** @throws Problem as `take` */
  finish(): TakenFile {
    this.begin();
    const last = this.splitter?.end();
    if (last) this.count(last);
    this.lookAtCells();
    this.demandBounded();
    if (last?.unclosed === true) throw malformed(`The quotes of the record on line ${last.line} never end.`);
    if (this.columns === undefined) {
      throw malformed('The file is empty.');
    }
    const { columns, bytes, rows, start } = this;
    const numberForms = this.forms?.all ?? null;
    return { columns, numberForms, bytes, rows, start, sha256: this.hash.digest('hex') };
  }

  private begin(): void {
    const { first } = this;
    if (first === undefined) return;
    this.first = undefined;
    if (UTF_16.some((mark) => first.subarray(0, 2).equals(mark))) {
      throw malformed('The file is UTF-16; UTF-8 and windows-1252 are taken.');
    }
    const marked = first.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
    if (marked > 0 && this.options.encoding !== 'utf-8')
      throw malformed(
        `The file says that it is UTF-8, and \`encoding\` that it is ${this.options.encoding}.`,
      );
    this.start = { at: marked, line: 1 };
    this.splitter = new RecordSplitter(recordForm(this.options), marked);
    this.look(first.subarray(marked));
  }

  private look(chunk: Buffer): void {
    for (const record of this.splitter?.push(chunk) ?? []) this.count(record);
    this.lookAtCells();
    this.demandBounded();
  }

  /** Looks at all rows that came with a chunk at once: the parser is dear to begin. */
  private lookAtCells(): void {
    this.forms?.look(this.fresh);
    this.fresh = [];
  }

  private demandBounded(): void {
    if (this.splitter === undefined) return;
    const { blankLines, unended } = this.splitter;
    if (this.rows + blankLines > MOST_ROWS)
      throw tooLarge('The file has more than 1,000,000 rows, blank lines included.');
    if (unended.bytes > LONGEST_PASSED_OVER)
      throw malformed(`The record on line ${unended.line} is longer than 16 MiB, or its quotes never end.`);
  }

  private count(record: RawRecord): void {
    if (this.columns === undefined) {
      this.columns = this.columnsOf(record);
      demandMapped(this.columns, this.options);
      if (this.options.format === 'csv') {
        this.start = record.next;
        this.forms = new NumberForms(this.options, this.columns);
        return;
      }
    }
    if (this.forms) this.fresh.push(record);
    this.rows += 1;
    if (this.rows > MOST_ROWS) throw tooLarge('The file has more than 1,000,000 rows.');
  }

  private columnsOf(record: RawRecord): readonly string[] {
    const { format, encoding } = this.options;
    if (format === 'csv') return readHeader(record, this.options);
    const names = readNames(record, encoding);
    if (names) return names;
    throw malformed('The first line of the file is no object of JSON.');
  }
}

function malformed(detail: string): Problem {
  return new Problem('malformed_request', { detail });
}

export function tooLarge(detail: string): Problem {
  return new Problem('body_too_large', { detail });
}
