import { isUuid } from '@customer-platform/database';

/** A place in the order in which what was stored becomes visible: by the beginning of its transaction, then by its id. */
export interface Position {
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly at: number;
  readonly id: string;
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

/** As the reader of a stream is given it, and gives it back. */
export function positionText({ at, id }: Position): string {
  return Buffer.from(`${at.toString(36)}.${id}`).toString('base64url');
}

/** What a reader gave back; undefined for what is no position. */
export function readPosition(text: string): Position | undefined {
  if (text.length > 100) return undefined;
  const [time = '', id = '', ...more] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  if (more.length > 0 || !/^[0-9a-z]{1,9}$/.test(time) || !isUuid(id)) return undefined;
  return { at: parseInt(time, 36), id: id.toLowerCase() };
}
