/** How a file is read. */
export interface FileForm {
  format: 'csv' | 'jsonl';
  delimiter: ',' | ';' | '\t' | '|';
  encoding: 'utf-8' | 'windows-1252';
}

/** So much of a file is looked at for its columns. */
const LOOKED_AT = 64 * 1024;
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** What the file seems to be: by its name, by its bytes, and by what stands most often in its first line. */
export async function guessForm(file: File): Promise<FileForm> {
  const bytes = await beginningOf(file);
  const format = /\.(jsonl|ndjson)(\.gz)?$/i.test(file.name) ? 'jsonl' : 'csv';
  const encoding = isUtf8(bytes) ? 'utf-8' : 'windows-1252';
  const [line = ''] = new TextDecoder(encoding).decode(bytes).split('\n', 1);
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
  return { format, delimiter, encoding };
}

/** The names of the columns; undefined where the first line has none. */
export async function columnsOf(file: File, form: FileForm): Promise<string[] | undefined> {
  const text = new TextDecoder(form.encoding).decode(await beginningOf(file));
  return form.format === 'csv' ? firstRecord(text, form.delimiter) : membersOf(text);
}

/** The cells of the first record, as RFC 4180 has them. */
export function firstRecord(text: string, delimiter: string): string[] | undefined {
  const cells: string[] = [];
  let [cell, quoted, begun] = ['', false, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(at + 1) === '"') [cell, at] = [`${cell}"`, at + 1];
      else quoted = false;
    } else if (character === '"' && !begun) [quoted, begun] = [true, true];
    else if (character === delimiter) {
      cells.push(cell);
      [cell, begun] = ['', false];
    } else if (character === '\n') break;
    else [cell, begun] = [cell + character, true];
  }
  cells.push(cell.replace(/\r$/, ''));
  return quoted || cells.every((each) => each === '') ? undefined : cells;
}

function membersOf(text: string): string[] | undefined {
  const line = text.split('\n').find((each) => each.trim() !== '');
  try {
    const value: unknown = JSON.parse(line ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.keys(value)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Inflated, where it is gzip. */
async function beginningOf(file: File): Promise<Uint8Array> {
  const start = new Uint8Array(await file.slice(0, LOOKED_AT).arrayBuffer());
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start;
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size < LOOKED_AT) {
    const { value, done } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
  }
  await reader.cancel();
  return new Uint8Array(await new Blob(chunks as BlobPart[]).slice(0, LOOKED_AT).arrayBuffer());
}

/** What is cut off at the end may be half a character. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
