import type { Schemas } from '@customer-platform/client';
import type { Entry } from './chains.ts';

export type Status = 'current' | 'left';
type Segment = Pick<
  Schemas['SegmentDto'],
  'id' | 'name' | 'state' | 'rule_version' | 'member_count' | 'evaluated_at'
>;

/** What is known of one contact's stays in one segment. */
interface Stay {
  /** The segment was so when it was asked: while it is, nobody has come or gone. */
  mark: string;
  /** When both kinds of stays were read. */
  readAt: number;
  name: string;
  current: readonly Entry[];
  left: readonly Entry[];
}

/** By the id of the segment. */
export type Stays = Readonly<Record<string, Stay>>;

type Ask = (id: string, status: Status) => Promise<readonly { entered_at: string; cause: string }[]>;

interface Reading {
  segments: readonly Segment[];
  statuses: readonly Status[];
  /** What the reading before found. */
  before: Stays | undefined;
  ask: Ask;
  now: number;
}

const ASKED_AT_ONCE = 6;
/** A segment says when it was evaluated to the second: after this long it is asked all the same. */
export const TRUSTED_MS = 60_000;

/**
 * A contact's stays, of which each segment is asked by itself: one that is as it was is not asked again, and one that
 * has moved only for who is in it. Segments that do not answer are left out and counted.
 *
 * @throws what the first of them answered, where none of those that were asked did
 */
export async function readStays(reading: Reading): Promise<{ stays: Stays; silent: number }> {
  const left = [...reading.segments];
  const stays: Record<string, Stay> = {};
  const failures: unknown[] = [];
  const asking = Array.from({ length: ASKED_AT_ONCE }, async () => {
    for (let segment = left.shift(); segment !== undefined; segment = left.shift()) {
      try {
        stays[segment.id] = await stayIn(segment, reading);
      } catch (error) {
        failures.push(error);
      }
    }
  });
  await Promise.all(asking);
  if (failures.length > 0 && failures.length === reading.segments.length) throw failures[0];
  return { stays, silent: failures.length };
}

async function stayIn(segment: Segment, { statuses, before, ask, now }: Reading): Promise<Stay> {
  const { id, name, state, rule_version, member_count, evaluated_at } = segment;
  const mark = JSON.stringify([state, rule_version, member_count, evaluated_at]);
  const known = before?.[id];
  const fresh = known !== undefined && now - known.readAt < TRUSTED_MS;
  if (fresh && known.mark === mark) return { ...known, name };
  const read = async (status: Status): Promise<Entry[]> =>
    (await ask(id, status)).map(({ entered_at: at, cause }) => ({ segmentId: id, name, at, cause }));
  return {
    mark,
    name,
    readAt: fresh ? known.readAt : now,
    current: await read('current'),
    left: fresh ? known.left : statuses.includes('left') ? await read('left') : [],
  };
}
