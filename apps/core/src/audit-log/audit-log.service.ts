import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { ListQuery, RequestContext } from '@customer-platform/http';
import { GENESIS } from './audit-chain.js';
import type { AuditChainDto, AuditLogDto } from './audit-log.dto.js';
import { AuditLogRepository, type ChainRow } from './audit-log.repository.js';
import type { Checkpoint } from './checkpoint.js';

/** The audit log of an organization, with what is known of its chain. */
@Injectable()
export class AuditLogService {
  constructor(
    private readonly database: Database,
    private readonly log: AuditLogRepository,
  ) {}

  /** One page; the chain is that of the whole log, whatever the page shows. */
  async list(context: RequestContext, query: ListQuery): Promise<AuditLogDto> {
    return this.database.inOrganization(context, async (tx) => {
      const { data, page } = await this.log.page(tx, query);
      const chain = await this.log.chain(tx);
      const [checkpoint] = await this.log.checkpoints(tx, 1);
      return { data, page, chain: toChainDto(chain, checkpoint) };
    });
  }
}

function toChainDto(chain: ChainRow | undefined, checkpoint: Checkpoint | undefined): AuditChainDto {
  return {
    head_seq: chain?.head.seq ?? 0,
    head_hash: (chain?.head.hash ?? GENESIS).toString('hex'),
    status: chain?.status ?? 'intact',
    broken_at_seq: chain?.brokenAtSeq ?? null,
    verified_at: chain?.verifiedAt?.toISOString() ?? null,
    verified_seq: chain?.verifiedSeq ?? null,
    checkpoint: checkpoint
      ? {
          seq: checkpoint.seq,
          hash: checkpoint.hash,
          kid: checkpoint.kid,
          signature: checkpoint.signature,
        }
      : null,
  };
}
