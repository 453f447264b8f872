import { Injectable } from '@nestjs/common';
import { systemActor } from '@customer-platform/audit';
import {
  afterLocks,
  Clock,
  Database,
  isAway,
  isTransient,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Batcher } from '@customer-platform/http';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { SendJournal, type SendStep } from '../../dispatch/sends/send-journal.js';
import { bitOf, isFinal, mayFollow, type SendState } from '../../vocabulary/sends/send-state.js';
import type { SuppressionReason } from '../../vocabulary/suppressions/suppression.js';
import { Suppressions } from '../../people/suppressions/suppressions.service.js';
import { eventKeyOf, stateOf, type ProviderReport } from '../../providers/report.js';
import {
  factsOf,
  isMatched,
  NOBODY,
  type MatchedReport,
  type PendingReport,
  type ReportKey,
} from './report-row.js';
import { ReportsRepository, type NewReport } from './reports.repository.js';

/** Where reports come from. */
interface ReportScope {
  /** Null for the platform's own account. */
  readonly organizationId: string | null;
  readonly channel: Channel | null;
  readonly provider: string;
  readonly correlationId: string;
}

/** A send that a report moves. */
interface SendMove {
  readonly organizationId: string;
  readonly id: string;
  /** Null: it stays where it is. */
  readonly state: SendState | null;
  readonly reason: string | null;
  /** All that was reported of it. */
  readonly reached: number;
}

/** So many soft bounces within five days are as good as a hard one. */
const MOST_SOFT_BOUNCES = 10;
/** A call that dies in the middle leaves its reports to the sweep. */
const FIRST_LOOK_MS = 2_000;

/**
 * What providers report (messaging.md §7): stored once → whom it concerns → suppressed, by the gate's own writer →
 * the send in the highest state that was ever reported. Each part can be repeated; a report is applied once, and one
 * whose send is not known yet, or not out of the dispatcher's hands, is looked at again. Calls that come at the same
 * time share one transaction, which is all there is to do for a report that suppresses nobody.
 */
@Injectable()
export class ProviderReports {
  private readonly taking = new Batcher<readonly NewReport[], PendingReport[]>({
    run: (calls) => this.database.acrossOrganizations((tx) => this.store(tx, calls)),
    // One that runs into a time limit holds up nobody else's; its own caller asks again.
    singlyAfter: (error) => !isAway(error),
    isSlow: isTransient,
  });

  constructor(
    private readonly database: Database,
    private readonly repository: ReportsRepository,
    private readonly suppressions: Suppressions,
    private readonly journal: SendJournal,
    private readonly clock: Clock,
  ) {}

  /** When this returns, whom these reports suppress is suppressed. */
  async take(reports: readonly ProviderReport[], scope: ReportScope): Promise<void> {
    if (reports.length === 0) return;
    const rows = reports.map((report) => toRow(report, scope));
    const pending = await this.taking.add(rows);
    for (const report of reports) if (report.stopOf !== null) await this.stop(report, report.stopOf, scope);
    const stops = new Set(rows.filter((_row, index) => reports[index]?.stopOf !== null).map(textOf));
    await this.applyPending(pending.filter((report) => !stops.has(textOf(report))));
  }

  /** Applies those of these reports that can be, and have not been. */
  async apply(keys: readonly ReportKey[]): Promise<void> {
    if (keys.length === 0) return;
    await this.applyPending(
      await this.database.acrossOrganizations((tx) => this.repository.pending(tx, keys, NOBODY)),
    );
  }

  /** Stores, and applies at once what suppresses nobody. @returns of each call what is left to be applied */
  private async store(
    tx: WorkerTransaction,
    calls: readonly (readonly NewReport[])[],
  ): Promise<PendingReport[][]> {
    const now = this.clock.now();
    const byText = new Map(calls.flat().map((row) => [textOf(row), row]));
    // In one order for all processes: each waits for the other's new rows.
    const rows = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    await this.repository.store(tx, rows, now, new Date(now.getTime() + FIRST_LOOK_MS));
    const pending = await this.repository.pending(tx, rows, NOBODY);
    const { true: quiet = [], false: left = [] } = Object.groupBy(pending, (report) =>
      isMatched(report) && !maySuppress(report) ? 'true' : 'false',
    );
    await this.move(tx, quiet.filter(isMatched));
    const leftByText = new Map(left.map((report) => [textOf(report), report]));
    return calls.map((call) => [...new Set(call.map(textOf))].flatMap((text) => leftByText.get(text) ?? []));
  }

  private async applyPending(pending: readonly PendingReport[]): Promise<void> {
    const matched = pending.filter(isMatched);
    if (matched.length === 0) return;
    await this.suppress(matched.filter(maySuppress));
    await this.database.acrossOrganizations((tx) => this.move(tx, matched));
  }

  private async suppress(matched: readonly MatchedReport[]): Promise<void> {
    if (matched.length === 0) return;
    const soft = matched.filter((one) => one.event === 'bounced' && one.bounce_type === 'soft');
    const worn = await this.wornOut(soft.filter((one) => one.s_address_key !== null));
    const asked = new Set<string>();
    for (const report of matched) {
      const reason = worn.has(report.s_address_key ?? '') ? 'repeated_soft_bounce' : reasonOf(report);
      // An erased person has no address here any more, and what was suppressed before still blocks.
      const { s_address: address } = report;
      if (reason === undefined || address === null) continue;
      const { s_organization_id: organizationId, s_channel: channel } = report;
      // A repeat would change nothing: an address is suppressed once, however many reports ask for it.
      const target = JSON.stringify([organizationId, channel, address]);
      if (asked.has(target)) continue;
      asked.add(target);
      const correlationId = report.s_correlation_id ?? report.s_id;
      const actor = systemActor(organizationId, correlationId, 'messaging.webhooks');
      await this.suppressions.add(actor, { channel, scope: 'address', address, reason, note: null });
    }
  }

  /** Addresses, by their keys, that have bounced softly too often. */
  private async wornOut(soft: readonly MatchedReport[]): Promise<Set<string>> {
    if (soft.length === 0) return new Set();
    return this.database.acrossOrganizations((tx) => this.repository.countSoft(tx, soft, MOST_SOFT_BOUNCES));
  }

  private async move(tx: WorkerTransaction, matched: readonly MatchedReport[]): Promise<void> {
    if (matched.length === 0) return;
    const [states, now] = await afterLocks(this.clock, this.repository.lockSends(tx, matched));
    // What a dispatcher still has in hand is its to end: these are looked at again.
    const ready = matched.filter(({ s_id: id }) => isFinal(states.get(id) ?? 'dispatching'));
    if (ready.length === 0) return;
    const settled = new Set((await this.repository.settle(tx, ready, now)).map(textOf));
    const steps: SendStep[] = [];
    const moved = new Map<string, SendMove>();
    for (const report of ready.filter((one) => settled.has(textOf(one)))) {
      const { s_id: id, s_organization_id: organizationId } = report;
      const before = states.get(id) ?? report.s_state;
      const reported = stateOf(report.event);
      const reason = reported === 'bounced' ? 'provider_rejected' : null;
      steps.push(stepOf(report, reported, before, reason));
      if (reported === undefined) continue;
      const known = moved.get(id);
      const follows = mayFollow(before, reported);
      if (follows) states.set(id, reported);
      moved.set(id, {
        organizationId,
        id,
        state: follows ? reported : (known?.state ?? null),
        reason: follows ? reason : (known?.reason ?? null),
        reached: (known?.reached ?? 0) | bitOf(reported),
      });
    }
    await this.repository.move(tx, [...moved.values()], now);
    await this.journal.record(tx, steps, now);
  }

  /** Somebody wrote to us to be left alone: no send, but the number it came from. */
  private async stop(report: ProviderReport, from: string, scope: ReportScope): Promise<void> {
    const { organizationId, channel, correlationId } = scope;
    if (organizationId === null || channel === null) return;
    const key = toRow(report, scope);
    const [open] = await this.database.acrossOrganizations((tx) =>
      this.repository.pending(tx, [key], NOBODY),
    );
    if (!open) return;
    const address = checkAddress(channel, from)?.delivery;
    if (address !== undefined) {
      const actor = systemActor(organizationId, correlationId, 'messaging.webhooks');
      await this.suppressions.add(actor, {
        channel,
        scope: 'address',
        address,
        reason: 'stop_keyword',
        note: null,
      });
    }
    await this.database.acrossOrganizations((tx) =>
      this.repository.settle(tx, [{ ...key, s_id: null }], this.clock.now()),
    );
  }
}

/** Whom a report suppresses by itself; undefined where it does not. */
function reasonOf({
  event,
  bounce_type: bounce,
  s_channel: channel,
}: MatchedReport): SuppressionReason | undefined {
  if (event === 'complained') return 'complaint';
  if (event === 'stopped') return 'stop_keyword';
  if (event !== 'bounced' || bounce === 'soft') return undefined;
  return channel === 'push' ? 'invalid_token' : 'hard_bounce';
}

/** Whether it does, or does so if it is one too many. */
function maySuppress(report: MatchedReport): boolean {
  return report.event === 'bounced' || reasonOf(report) !== undefined;
}

function stepOf(
  report: MatchedReport,
  reported: SendState | undefined,
  before: SendState,
  reason: string | null,
): SendStep {
  return {
    send: factsOf(report),
    state: reported ?? before,
    reason: reported === undefined ? report.event : reason,
    attempt: report.s_attempts,
    providerEventId: report.provider_event_id,
    occurredAt: report.occurred_at,
    noted: reported === undefined,
  };
}

function toRow(report: ProviderReport, scope: ReportScope): NewReport {
  return {
    organization_id: scope.organizationId ?? NOBODY,
    provider: scope.provider,
    provider_message_id: report.messageId,
    event_key: eventKeyOf(report),
    event: report.event,
    provider_event_id: report.eventId,
    bounce_type: report.bounceType,
    named_send: report.namedSend,
    occurred_at: report.occurredAt,
  };
}

export function textOf({
  organization_id: organization,
  provider,
  provider_message_id: id,
  event_key: key,
}: ReportKey): string {
  return JSON.stringify([organization, provider, id, key]);
}
