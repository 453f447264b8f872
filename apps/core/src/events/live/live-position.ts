import { isUuid } from '@customer-platform/database';

/** A place in the order in which what was stored becomes visible: by the beginning of its transaction, then by its id. */
export interface Position {
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly at: number;
  readonly id: string;
  /** Something from before may have come after it: a transaction that was not waited for was open. */
  readonly late?: boolean;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Before all that is of this instant. */
export function beginningOf(at: number): Position {
  return { at, id: FIRST_ID };
}

/** Negative where the one comes before the other. */
export function comparePositions(one: Position, other: Position): number {
  if (one.at !== other.at) return one.at - other.at;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

/** A release that does not know it takes the position for none that was given, and says that there is a gap. */
const LATE = '.late';

/** As the reader of a stream is given it, and gives it back. */
export function positionText({ at, id, late = false }: Position): string {
  return Buffer.from(`${at.toString(36)}.${id}${late ? LATE : ''}`).toString('base64url');
}

/** What a reader gave back; undefined for what is no position. */
export function readPosition(text: string): Position | undefined {
  if (text.length > 100) return undefined;
  const read = Buffer.from(text, 'base64url').toString('latin1');
  const late = read.endsWith(LATE);
  const [time = '', id = '', ...more] = (late ? read.slice(0, -LATE.length) : read).split('.');
  if (more.length > 0 || !/^[0-9a-z]{1,9}$/.test(time) || !isUuid(id)) return undefined;
  return { at: parseInt(time, 36), id: id.toLowerCase(), late };
}
