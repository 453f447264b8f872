import { Injectable } from '@nestjs/common';
import { newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { LiveSegment, SegmentIndex } from '../../vocabulary/rules/segment-index.js';
import { evaluate } from '../../vocabulary/rules/evaluate.js';
import { readFacts, type KnownContact } from './contact-facts.js';
import { readDueTimes, writeDueTimes, type DueTimes } from './due-times.js';
import { storedOccurrences } from './stored-occurrences.js';
import { forget, moveEvent, readMemberships, writeMoves, type Move, type Reason } from './memberships.js';

/** What is to be evaluated of a contact, and why. */
export interface Task {
  /** The segments that may move it, each for its reason. */
  readonly segments: Map<LiveSegment, Reason>;
  /** Of its last change: why it leaves everything once it is soft-deleted or merged. */
  readonly reason: Reason;
}

/** The contacts to evaluate, by id. */
export type Tasks = ReadonlyMap<string, Task>;

/** The reason of what only time has moved. */
export function timeHasPassed(): Reason {
  return { cause: 'time', correlationId: newId(), eventId: null };
}

/**
 * Evaluates contacts: reads what their segments ask, and writes who entered and left, when time will move them next,
 * and what is to be told of it, all in the caller's transaction. The caller sees to it that nobody else evaluates the
 * organization meanwhile.
 */
@Injectable()
export class Evaluation {
  constructor(private readonly outbox: Outbox) {}

  async run(tx: Transaction, index: SegmentIndex, tasks: Tasks, now: Date): Promise<void> {
    if (tasks.size === 0) return;
    const ids = [...tasks.keys()];
    const questions = new Map([...tasks].map(([id, { segments }]) => [id, new Set(segments.keys())]));
    const known = await readFacts(tx, questions, now, storedOccurrences(index));
    const current = await membershipsOf(tx, tasks, known);
    const before = await readDueTimes(tx, ids);
    const after = new Map<string, DueTimes>();
    const moves: Move[] = [];
    const evaluated = new Set<string>();
    for (const [contactId, task] of tasks) {
      const dues: DueTimes = new Map();
      const contact = known.get(contactId);
      const inside = current.get(contactId) ?? new Set<string>();
      if (contact?.active) {
        keepOthers(index, task, before.get(contactId), dues);
        moves.push(...movesOf(contactId, contact, task, inside, dues, now));
        for (const { id } of task.segments.keys()) evaluated.add(id);
      } else moves.push(...departures(contactId, task, inside, contact));
      after.set(contactId, dues);
    }
    await writeMoves(tx, moves, evaluated, now);
    const gone = ids.filter((id) => !known.has(id));
    if (gone.length > 0) await forget(tx, gone);
    await writeDueTimes(tx, before, after);
    await this.outbox.append(
      tx,
      moves.map((move) => moveEvent(move, now, tx.organizationId)),
    );
  }
}

/** Where contacts are: among what is asked of them, and of one that leaves everything all. */
async function membershipsOf(
  tx: Transaction,
  tasks: Tasks,
  known: ReadonlyMap<string, KnownContact>,
): Promise<Map<string, Set<string>>> {
  const { active = [], leaving = [] } = Object.groupBy(tasks.keys(), (id) =>
    known.get(id)?.active ? 'active' : 'leaving',
  );
  const asked = new Set(active.flatMap((id) => [...(tasks.get(id)?.segments.keys() ?? [])]));
  const among = [...asked].map(({ id }) => id);
  return new Map([
    ...(await readMemberships(tx, active, among)),
    ...(await readMemberships(tx, leaving, null)),
  ]);
}

/** What is not evaluated now stays due when it was. */
function keepOthers(
  index: SegmentIndex,
  { segments }: Task,
  before: DueTimes | undefined,
  dues: DueTimes,
): void {
  for (const [segmentId, at] of before ?? []) {
    const segment = index.segments.get(segmentId);
    // One that is being built anew is due when its contacts are gone through.
    if (segment?.evaluated && !segments.has(segment)) dues.set(segmentId, at);
  }
}

function movesOf(
  contactId: string,
  { facts }: KnownContact,
  { segments }: Task,
  inside: ReadonlySet<string>,
  dues: DueTimes,
  now: Date,
): Move[] {
  const moves: Move[] = [];
  for (const [segment, reason] of segments) {
    const { holds, next } = evaluate(segment.node, facts, now.getTime());
    if (next !== Infinity) dues.set(segment.id, next);
    if (holds === inside.has(segment.id)) continue;
    moves.push({ verb: holds ? 'entered' : 'left', segmentId: segment.id, contactId, reason });
  }
  return moves;
}

/** A contact that is soft-deleted, merged or no more is in no segment. */
function departures(
  contactId: string,
  { reason }: Task,
  inside: ReadonlySet<string>,
  contact: KnownContact | undefined,
): Move[] {
  const why: Reason = contact?.merged ? { ...reason, cause: 'merge' } : reason;
  return [...inside].map((segmentId) => ({ verb: 'left', segmentId, contactId, reason: why }));
}
