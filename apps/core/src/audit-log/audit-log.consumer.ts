import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AUDIT_TOPIC, type AuditEntry } from '@customer-platform/audit';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, Database, isTransient, ranOut } from '@customer-platform/database';
import { LeftForLater, RecordConsumers, type IncomingRecord } from '@customer-platform/event-bus';
import { RECORD_TOPICS } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { UnreadableRecords } from '../processing/unreadable-records.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { entryOf } from './signed-entry.js';

/** A row that runs out of time or memory alone so often, while others come through, does so for what it holds, or for its chain. */
const TRIES_BESIDE_OTHERS = 3;
/** Where nothing comes through that would prove it, it is given up all the same. */
const TRIES_UNPROVEN = 20;
/** Where so many in a row do, no more of their organization are tried alone for now: each costs a time limit. */
const MOST_ALONE = 5;
/** So many rows are remembered, at most; those forgotten are tried again. */
const MOST_REMEMBERED = 10_000;

interface ReadRecord {
  readonly record: IncomingRecord;
  readonly entry: AuditEntry;
}

/**
 * Takes the audit rows of all modules off their topic into the chain of their organization, in the order in which they
 * came. A row that comes twice stands there once. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class AuditLogConsumer implements OnApplicationBootstrap {
  /** What rows that ran out of time or memory alone have come to, by their place. */
  private readonly exhausted = new Map<string, Exhausted>();
  /** Places of what was set aside of chunks that are to be taken again. */
  private readonly setAside = new Set<string>();
  /** How often something was appended. */
  private passes = 0;

  constructor(
    private readonly consumers: RecordConsumers,
    private readonly database: Database,
    private readonly chains: AuditLogRepository,
    private readonly unreadable: UnreadableRecords,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.consumers.consume({
      topic: AUDIT_TOPIC,
      group: RECORD_TOPICS[AUDIT_TOPIC].groups.log,
      positions: 'kept',
      eachChunk: (records) => this.take(records),
      takesUnproven: true,
    });
  }

  /**
   * Throws only while the database is away. What can never be read or appended is set aside.
   * @throws LeftForLater where rows are to be tried again that ran out of time: all others are in their chains then, and
   *   those that come behind them do not wait
   */
  async take(records: readonly IncomingRecord[]): Promise<void> {
    const read: ReadRecord[] = [];
    for (const record of records) {
      if (this.setAside.has(placeOf(record))) continue;
      try {
        if (record.unproven) throw record.unproven;
        read.push({ record, entry: entryOf(record.value, record.writer) });
      } catch (error) {
        await this.keepOne(record, error);
      }
    }
    const owners = [...Map.groupBy(read, ({ entry }) => entry.organization_id)];
    const isSlow = (own: readonly ReadRecord[]): boolean => own.some((each) => this.exhaustedOf(each));
    // Others do not wait for those of whom something ran into a time limit before.
    const [slow, free] = [owners.filter(([, own]) => isSlow(own)), owners.filter(([, own]) => !isSlow(own))];
    let again: Error | undefined;
    for (const [organizationId, own] of [...free, ...slow])
      again = (await this.takeOwn(organizationId, own)) ?? again;
    if (again !== undefined) throw new LeftForLater(again);
    for (const record of records) this.setAside.delete(placeOf(record));
  }

  /** Takes the rows of one organization. @returns why some are to be tried again */
  private async takeOwn(organizationId: string, own: readonly ReadRecord[]): Promise<Error | undefined> {
    const outOf: RunOut = { alone: [], inARow: 0, untried: 0, error: undefined };
    for (const run of this.runsOf(own, outOf)) {
      if (outOf.inARow >= MOST_ALONE) outOf.untried += run.length;
      else await this.append(organizationId, run, outOf);
    }
    const last = outOf.alone.filter((each) => isAtFault(this.exhaustedOf(each)));
    if (last.length > 0) await this.keep(organizationId, last, outOf.error);
    return outOf.alone.length > last.length || outOf.untried > 0 ? outOf.error : undefined;
  }

  /**
   * All at once. Where some ran out alone before, the first of them goes first: once it comes through it was the whole
   * chain that did not, and the others follow in their order. Else those that never did have their turn, and then the
   * others alone, those tried least first.
   */
  private *runsOf(own: readonly ReadRecord[], { alone }: RunOut): Generator<readonly ReadRecord[], void> {
    const [probe, ...others] = own.filter((each) => this.exhaustedOf(each));
    if (!probe) {
      yield own;
      return;
    }
    yield [probe];
    if (alone.length === 0 && own.length > 1) yield own.filter((each) => each !== probe);
    if (alone.length === 0) return;
    const untried = own.filter((each) => !this.exhaustedOf(each));
    if (untried.length > 0) yield untried;
    const triesOf = (each: ReadRecord): number => this.exhaustedOf(each)?.tries ?? 0;
    for (const each of others.toSorted((a, b) => triesOf(a) - triesOf(b))) yield [each];
  }

  /**
   * A chain that takes no row, because somebody wrote behind its end, must not hold back those of others; nor must a row
   * that is refused those that came with it, which are halved until it stands alone.
   */
  private async append(organizationId: string, read: readonly ReadRecord[], outOf: RunOut): Promise<void> {
    const entries = read.map(({ entry }) => entry);
    try {
      const appended = await this.database.inOrganization({ organizationId }, (tx) =>
        this.chains.append(tx, entries, this.clock),
      );
      // What was there already proves nothing.
      if (appended > 0) this.passes += 1;
      outOf.inARow = 0;
      for (const { record } of read) this.exhausted.delete(placeOf(record));
    } catch (error) {
      if (isTransient(error) && !ranOut(error)) throw error;
      if (read.length > 1 && (!ranOut(error) || outOf.inARow < MOST_ALONE)) {
        const middle = read.length >> 1;
        await this.append(organizationId, read.slice(0, middle), outOf);
        return this.append(organizationId, read.slice(middle), outOf);
      }
      if (!ranOut(error)) return this.keep(organizationId, read, error);
      outOf.error = error instanceof Error ? error : new Error(String(error));
      if (read.length > 1) outOf.untried += read.length;
      else for (const row of read) this.ranOutAlone(row, outOf);
    }
  }

  private exhaustedOf({ record }: ReadRecord): Exhausted | undefined {
    return this.exhausted.get(placeOf(record));
  }

  private ranOutAlone(row: ReadRecord, outOf: RunOut): void {
    outOf.inARow += 1;
    outOf.alone.push(row);
    const { tries, besideOthers, passes } = this.exhaustedOf(row) ?? NEVER;
    const place = placeOf(row.record);
    this.exhausted.delete(place);
    this.exhausted.set(place, {
      tries: tries + 1,
      besideOthers: besideOthers + Number(this.passes > passes),
      passes: this.passes,
    });
    const [oldest] = this.exhausted.keys();
    if (this.exhausted.size > MOST_REMEMBERED && oldest !== undefined) this.exhausted.delete(oldest);
  }

  private async keep(organizationId: string, read: readonly ReadRecord[], error: unknown): Promise<void> {
    log.error({ err: error, organizationId }, 'The audit log of an organization takes no rows');
    for (const { record } of read) await this.keepOne(record, error);
  }

  private async keepOne(record: IncomingRecord, error: unknown): Promise<void> {
    await this.unreadable.keep(AUDIT_TOPIC, record, error);
    this.exhausted.delete(placeOf(record));
    this.setAside.add(placeOf(record));
    if (this.setAside.size > MOST_REMEMBERED) this.setAside.clear();
  }
}

/** What a row has come to that ran out of time or memory alone. */
interface Exhausted {
  readonly tries: number;
  /** Of these, the first and those with something appended since the one before. */
  readonly besideOthers: number;
  /** How often something had been appended when it ran out last. */
  readonly passes: number;
}

const NEVER: Exhausted = { tries: 0, besideOthers: 0, passes: -1 };

/** Any statement may run out of time at some moment, and each does while the whole database is slow. */
function isAtFault(exhausted: Exhausted | undefined): boolean {
  const { tries, besideOthers } = exhausted ?? NEVER;
  return besideOthers >= TRIES_BESIDE_OTHERS || tries >= TRIES_UNPROVEN;
}

/** What of an organization's rows ran out of time or memory. */
interface RunOut {
  /** Those that did alone. */
  readonly alone: ReadRecord[];
  inARow: number;
  /** How many others are left that are to be tried later. */
  untried: number;
  error: Error | undefined;
}

/** A topic that was lost and made anew has the same offsets at other times. */
function placeOf({ partition, offset, timestamp }: IncomingRecord): string {
  return `${String(partition)} ${offset} ${String(timestamp)}`;
}
