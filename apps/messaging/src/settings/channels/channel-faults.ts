import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import type { Channel } from '../../vocabulary/addresses/channel.js';

/** A channel whose provider refuses the account or is not what the settings say. */
export interface ChannelFault {
  readonly organizationId: string;
  readonly channel: Channel;
  readonly provider: string;
  /** What was refused: `AUTH`, `TLS`, `request` … */
  readonly stage: string;
  /** The SMTP or HTTP code, where there was one. */
  readonly code: number | null;
  /** Of the settings that it is a fault of. */
  readonly version: number;
  readonly correlationId: string;
}

/** A fault as it is stored. */
export interface FaultRow {
  organization_id: string;
  channel: Channel;
  provider: string;
  stage: string;
  code: number | null;
}

/** A fault as the settings show it. */
export interface ShownFault {
  readonly since: string;
  readonly stage: string;
  readonly code: number | null;
}

/**
 * The first refusal stands until something gets through; in one order, as others write the same rows. Who replaces the
 * settings waits for it, or has done so: a fault of former settings is not theirs. Not FOR SHARE: sharers that keep coming
 * would hold the replacement up.
 */
const NOTE = `
  INSERT INTO channel_faults (organization_id, channel, provider, stage, code, since)
  SELECT f.organization_id, f.channel, f.provider, f.stage, f.code, $2
    FROM jsonb_to_recordset($1::jsonb) AS f (organization_id uuid, channel text, provider text, stage text, code int,
      version bigint)
    JOIN channel_settings s ON s.organization_id = f.organization_id AND s.version = f.version
   ORDER BY f.organization_id, f.channel FOR NO KEY UPDATE OF s
  ON CONFLICT (organization_id, channel) DO NOTHING
  RETURNING organization_id, channel`;

/**
 * The table `channel_faults`: what an organization has to mend before its messages leave. It is told once when it
 * begins and once when it is over, and shown in the channel settings meanwhile.
 */
@Injectable()
export class ChannelFaults {
  constructor(private readonly outbox: Outbox) {}

  /** Stores what is new, and tells of it. In a worker's transaction. */
  async note(tx: Transaction, faults: readonly ChannelFault[], now: Date): Promise<void> {
    if (faults.length === 0) return;
    const rows = faults.map((fault) => ({ ...fault, organization_id: fault.organizationId }));
    const stored = await tx.query<{ organization_id: string; channel: Channel }>(NOTE, [
      JSON.stringify(rows),
      now,
    ]);
    const fresh = new Set(stored.map(placeOf));
    const begun = rows.filter((row) => fresh.has(placeOf(row)));
    await this.outbox.append(
      tx,
      begun.map((row) => eventOf('misconfigured', row, row.correlationId, now)),
    );
  }

  /** Tells of faults that are over; their rows are gone. */
  async tellOver(tx: Transaction, rows: readonly FaultRow[], now: Date): Promise<void> {
    if (rows.length === 0) return;
    await this.outbox.append(
      tx,
      rows.map((row) => eventOf('recovered', row, randomUUID(), now)),
    );
  }

  /** Of the transaction's organization, by channel. */
  async shown(tx: Transaction): Promise<Map<Channel, ShownFault>> {
    const rows = await tx.query<Omit<FaultRow, 'organization_id' | 'provider'> & { since: Date }>(
      'SELECT channel, stage, code, since FROM channel_faults WHERE organization_id = $1',
      [tx.organizationId],
    );
    return new Map(
      rows.map(({ channel, stage, code, since }) => [channel, { since: since.toISOString(), stage, code }]),
    );
  }

  /** Forgets all of the transaction's organization: with other settings it shows anew what is wrong. */
  async forget(tx: Transaction): Promise<void> {
    await tx.query('DELETE FROM channel_faults WHERE organization_id = $1', [tx.organizationId]);
  }
}

function placeOf({
  organization_id: organization,
  channel,
}: {
  organization_id: string;
  channel: Channel;
}): string {
  return `${organization} ${channel}`;
}

function eventOf(
  verb: 'misconfigured' | 'recovered',
  { organization_id: organizationId, channel, provider, stage, code }: FaultRow,
  correlationId: string,
  now: Date,
): NewDomainEvent {
  return {
    type: `messaging.channel.${verb}.v1`,
    organizationId,
    key: organizationId,
    subject: `channel-settings/${channel}`,
    correlationId,
    time: now.toISOString(),
    data: { organization_id: organizationId, channel, provider, stage, code },
  };
}
