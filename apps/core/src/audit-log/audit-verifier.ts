import { Injectable } from '@nestjs/common';
import { Database, SigningKeys } from '@customer-platform/database';
import { ChainWalk, GENESIS, type ChainHead, type ExaminedCheckpoint, type Finding } from './audit-chain.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { isGenuine, type Checkpoint } from './checkpoint.js';

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
    for (let more = true; more;) {
      const rows = await this.database.inOrganization(where, (tx) =>
        this.log.rows(tx, walk.head.seq, head.seq),
      );
      more = rows.length > 0 && rows.every((row) => walk.take(row));
    }
    const found = walk.end(head);
    const overrun = chain?.overrun === true && found.status === 'intact';
    const finding: Finding = overrun
      ? { status: 'broken', atSeq: head.seq + 1, what: 'head_contradicted' }
      : found;
    return { finding, rows: walk.head.seq, checkpoints: checkpoints.length };
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
}
