import { Injectable } from '@nestjs/common';
import { Database, isUuid } from '@customer-platform/database';
import { TopicReader } from '@customer-platform/event-bus';
import type { Damage } from './audit-chain.js';
import { AuditVerifier } from './audit-verifier.js';
import { CHECKPOINT_TOPIC, type Checkpoint } from './checkpoint.js';

/** What was found of one organization's chain. */
export interface InspectedChain {
  readonly organization_id: string;
  readonly status: 'intact' | 'broken';
  readonly rows: number;
  /** Those in the database and those outside, each counted. */
  readonly checkpoints: number;
  readonly broken_at_seq: number | null;
  readonly damage: Damage | null;
}

/** What was found of all chains. */
export interface Inspection {
  readonly chains: readonly InspectedChain[];
  /** Records of the checkpoints' topic that are no checkpoints. */
  readonly unreadable: number;
}

/** Verifies the chains of all organizations from outside: against the checkpoints that are not in the database. */
@Injectable()
export class AuditInspection {
  constructor(
    private readonly database: Database,
    private readonly topics: TopicReader,
    private readonly verifier: AuditVerifier,
  ) {}

  /** Verifies one organization's chain, or all there are: those the database knows and those it should know. */
  async run(only?: string): Promise<Inspection> {
    const { byOrganization, unreadable } = await this.outside();
    const known = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string }>('SELECT organization_id FROM audit_chains'),
    );
    const all = new Set([...known.map((row) => row.organization_id), ...byOrganization.keys()]);
    const chosen = [...all].sort().filter((id) => only === undefined || id === only);
    const chains: InspectedChain[] = [];
    for (const organizationId of chosen) {
      const found = await this.verifier.verify(organizationId, byOrganization.get(organizationId));
      const broken = found.finding.status === 'broken' ? found.finding : undefined;
      chains.push({
        organization_id: organizationId,
        status: found.finding.status,
        rows: found.rows,
        checkpoints: found.checkpoints,
        broken_at_seq: broken?.atSeq ?? null,
        damage: broken?.what ?? null,
      });
    }
    return { chains, unreadable };
  }

  private async outside(): Promise<{ byOrganization: Map<string, Checkpoint[]>; unreadable: number }> {
    const read = (await this.topics.readAll(CHECKPOINT_TOPIC)).map(readCheckpoint);
    const checkpoints = read.filter((checkpoint) => checkpoint !== undefined);
    const byOrganization = Map.groupBy(checkpoints, (checkpoint) => checkpoint.organization_id);
    return { byOrganization, unreadable: read.length - checkpoints.length };
  }
}

function readCheckpoint(value: string): Checkpoint | undefined {
  let read: Partial<Record<keyof Checkpoint, unknown>>;
  try {
    read = JSON.parse(value) as typeof read;
  } catch {
    return undefined; // counted as unreadable
  }
  const { organization_id, seq, hash, kid, signature } = read;
  const texts = [organization_id, hash, kid, signature];
  const whole = texts.every((text) => typeof text === 'string') && Number.isSafeInteger(seq);
  return whole && isUuid(String(organization_id)) ? (read as Checkpoint) : undefined;
}
