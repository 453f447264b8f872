/** A record of a file: a row, or the header. */
export interface RawRecord {
  /** Without the end of its line; null where it is longer than a record may be. */
  readonly bytes: Buffer | null;
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** Where the next record begins, in bytes from the beginning of the file, and on which line. */
  readonly next: { readonly at: number; readonly line: number };
  /** The file ended within quotes. */
  readonly unclosed: boolean;
}

/** How records of a file are told apart. */
export interface RecordForm {
  /** The byte between cells, where line breaks may stand in quotes; null where each line is a record. */
  readonly delimiter: number | null;
  /** No longer record is kept, in bytes; it is passed over to its end all the same. */
  readonly most: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const SPACE = 0x20;
const TAB = 0x09;

/** Where in a cell a byte stands. */
const START = 0;
const PLAIN = 1;
const QUOTED = 2;
/** After a quote within quotes: the end of them, or the first of two. */
const CLOSED = 3;

/**
 * Tells the records of a file apart as its bytes come, so that reading can begin at any of them, and none, however long,
 * takes more memory than it may. What the cells are is the parser's affair (RFC 4180); both encodings that are taken have
 * line ends, quotes and delimiters as single bytes.
 */
export class RecordSplitter {
  private cell = START;
  private pieces: Buffer[] = [];
  private length = 0;
  private blanks = 0;
  private line: number;
  private linesWithin = 0;

  /** @param at where in the file the first byte stands that will be given, and on which line */
  constructor(
    private readonly form: RecordForm,
    private at = 0,
    line = 1,
  ) {
    this.line = line;
  }

  /** Lines that hold nothing, so far, or nothing but delimiters, quotes and blanks, as spreadsheets leave them behind. */
  get blankLines(): number {
    return this.blanks;
  }

  /** What has come of a record that has not ended yet, and the line on which it begins. */
  get unended(): { readonly bytes: number; readonly line: number } {
    return { bytes: this.length, line: this.line };
  }

  /** Where the next record begins, or blank lines before it; undefined within a record. */
  get between(): RawRecord['next'] | undefined {
    return this.length === 0 ? { at: this.at, line: this.line } : undefined;
  }

  /** The records that end within these bytes. Blank lines are none. */
  *push(chunk: Buffer): Generator<RawRecord> {
    let start = this.behindBlanks(chunk, 0);
    for (let end = this.endFrom(chunk, start); end !== -1; end = this.endFrom(chunk, start)) {
      this.keep(chunk.subarray(start, end));
      this.at += end + 1 - start;
      start = end + 1;
      const record = this.take(false);
      if (record) yield record;
      start = this.behindBlanks(chunk, start);
    }
    this.keep(chunk.subarray(start));
    this.at += chunk.length - start;
  }

  /** The record that the end of the file ends, if it does not end with a line. */
  end(): RawRecord | undefined {
    return this.length > 0 ? this.take(this.cell === QUOTED) : undefined;
  }

  /** Where the first line begins that holds something, or is not whole. */
  private behindBlanks(chunk: Buffer, from: number): number {
    if (this.length > 0) return from;
    const { blanks: blanksBefore } = this;
    let behind = from;
    for (;;) {
      const end = chunk[behind] === CARRIAGE_RETURN ? behind + 1 : behind;
      if (chunk[end] !== LINE_FEED) break;
      behind = end + 1;
      this.blanks += 1;
    }
    this.line += this.blanks - blanksBefore;
    this.at += behind - from;
    return behind;
  }

  /** Where the line feed stands that ends the record. */
  private endFrom(chunk: Buffer, from: number): number {
    const { delimiter } = this.form;
    if (delimiter === null) return chunk.indexOf(LINE_FEED, from);
    let { cell } = this;
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (cell === QUOTED) {
        if (byte === QUOTE) cell = CLOSED;
        else if (byte === LINE_FEED) this.linesWithin += 1;
      } else if (byte === LINE_FEED) {
        this.cell = START;
        return at;
      } else if (byte === delimiter) cell = START;
      else if (byte === QUOTE && cell !== PLAIN) cell = QUOTED;
      else cell = PLAIN;
    }
    this.cell = cell;
    return -1;
  }

  private keep(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length > this.form.most) this.pieces = [];
    else if (bytes.length > 0) this.pieces.push(bytes);
  }

  private take(unclosed: boolean): RawRecord | undefined {
    const { length, pieces, line, at } = this;
    this.line += this.linesWithin + 1;
    const next = { at, line: this.line };
    this.linesWithin = 0;
    this.length = 0;
    this.pieces = [];
    this.cell = START;
    if (length > this.form.most) return { bytes: null, line, next, unclosed };
    const bytes = trimmed(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));
    if (unclosed || bytes.some((byte) => !this.saysNothing(byte))) return { bytes, line, next, unclosed };
    this.blanks += 1;
    return undefined;
  }

  private saysNothing(byte: number): boolean {
    if (byte === SPACE || byte === TAB) return true;
    const { delimiter } = this.form;
    return delimiter !== null && (byte === delimiter || byte === QUOTE);
  }
}

function trimmed(bytes: Buffer): Buffer {
  return bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
}
