import { Injectable } from '@nestjs/common';
import { Database, SigningKeys } from '@customer-platform/database';
import { ChainWalk, GENESIS, type ChainHead, type ExaminedCheckpoint, type Finding } from './audit-chain.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { isGenuine, type Checkpoint } from './checkpoint.js';

/** Checkpoints of one piece of a verification, and rows after which it ends at the next of them. */
const CHECKPOINTS_AT_ONCE = 100;
const ROWS_AT_ONCE = 50_000;

/** The outcome of verifying a piece of a chain. */
interface VerifiedPiece {
  readonly finding: Finding;
  /** The number of the row behind which the next piece begins: that of a checkpoint. */
  readonly reached: number;
  readonly isWhole: boolean;
}

/** What a verification of a whole chain came to. */
interface Verification {
  readonly finding: Finding;
  /** How many rows were found as they should be. */
  readonly rows: number;
  readonly checkpoints: number;
}

/** Holds chains to their rows, their checkpoints and the checkpoints kept outside the database. */
@Injectable()
export class AuditVerifier {
  constructor(
    private readonly database: Database,
    private readonly log: AuditLogRepository,
    private readonly keys: SigningKeys,
  ) {}

  /**
   * Verifies an organization's chain from its first row to its head. `outside`: checkpoints of the organization that
   * were kept elsewhere, read before the call. Rows appended meanwhile are of no concern.
   */
  async verify(organizationId: string, outside: readonly Checkpoint[] = []): Promise<Verification> {
    const where = { organizationId };
    const { inside, chain } = await this.database.inOrganization(where, async (tx) => ({
      // Before the head: one made in between must not seem to stand behind it.
      inside: await this.log.checkpoints(tx),
      chain: await this.log.chain(tx),
    }));
    const checkpoints = await this.examine([...inside, ...outside]);
    const head: ChainHead = chain?.head ?? { seq: 0, hash: GENESIS };
    const walk = new ChainWalk(undefined, checkpoints);
    await this.walk(organizationId, walk, head.seq);
    const found = walk.end(head);
    const overrun = chain?.overrun === true && found.status === 'intact';
    const finding: Finding = overrun
      ? { status: 'broken', atSeq: head.seq + 1, what: 'head_contradicted' }
      : found;
    return { finding, rows: walk.head.seq, checkpoints: checkpoints.length };
  }

  /**
   * Verifies a piece of a chain, from the row of a checkpoint on (or the first) to that of a later one, or to the chain's
   * head. What a piece begins with is believed by its signature alone.
   */
  async piece(organizationId: string, from: number, most = CHECKPOINTS_AT_ONCE): Promise<VerifiedPiece> {
    const where = { organizationId };
    const { start, following, chain } = await this.database.inOrganization(where, async (tx) => ({
      start: await this.log.checkpointAt(tx, from),
      // Before the head: one made in between must not seem to stand behind it.
      following: await this.log.checkpointsAfter(tx, from, most),
      chain: await this.log.chain(tx),
    }));
    if (from > 0 && !start) return this.piece(organizationId, 0, most);
    const [believed] = start ? await this.examine([start]) : [];
    if (believed && !believed.genuine)
      return broken({ status: 'broken', atSeq: from, what: 'checkpoint_forged' });
    const far = following.findIndex(({ seq }) => seq - from >= ROWS_AT_ONCE);
    const ahead = far === -1 ? following : following.slice(0, far + 1);
    const isWhole = ahead.length === following.length && following.length < most;
    const last = ahead.at(-1);
    const head: ChainHead = chain?.head ?? { seq: 0, hash: GENESIS };
    const end = isWhole || !last ? head : { seq: last.seq, hash: Buffer.from(last.hash, 'hex') };
    const walk = new ChainWalk(believed, await this.examine(ahead));
    await this.walk(organizationId, walk, end.seq);
    const found = walk.end(end);
    if (found.status === 'broken') return broken(found);
    if (isWhole && chain?.overrun === true)
      return broken({ status: 'broken', atSeq: head.seq + 1, what: 'head_contradicted' });
    return { finding: found, reached: end.seq, isWhole };
  }

  /** Tells genuine checkpoints from others. */
  examine(checkpoints: readonly Checkpoint[]): Promise<ExaminedCheckpoint[]> {
    return Promise.all(
      checkpoints.map(async (checkpoint) => {
        const key = await this.keys.toVerify('audit_checkpoints', checkpoint.kid);
        const genuine = key !== undefined && (await isGenuine(key, checkpoint));
        return { seq: checkpoint.seq, hash: Buffer.from(checkpoint.hash, 'hex'), genuine };
      }),
    );
  }

  private async walk(organizationId: string, walk: ChainWalk, until: number): Promise<void> {
    for (let more = true; more;) {
      const rows = await this.database.inOrganization({ organizationId }, (tx) =>
        this.log.rows(tx, walk.head.seq, until),
      );
      more = rows.length > 0 && rows.every((row) => walk.take(row));
    }
  }
}

function broken(finding: Finding): VerifiedPiece {
  return { finding, reached: 0, isWhole: true };
}
