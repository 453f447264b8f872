import { Injectable } from '@nestjs/common';
import type {
  CallDigests,
  IdempotentCall,
  KeptAnswer,
  KeptAnswers,
  Transaction,
} from '@customer-platform/database';
import type { StoredAnswer } from '@customer-platform/http';
import { LedgerService } from '../ledger/ledger.service.js';
import type { TransactionDto } from '../ledger/transaction.dto.js';

/**
 * The answers of postings are the ledger's own rows, which carry the digests of key and body. So they are there for
 * ever, and nothing beside the ledger keeps whose they were after an erasure.
 */
@Injectable()
export class PostedAnswers implements KeptAnswers {
  constructor(private readonly ledger: LedgerService) {}

  async find(tx: Transaction, _: IdempotentCall, digests: CallDigests): Promise<KeptAnswer | undefined> {
    const [row] = await tx.query<{ id: string; request_hash: Buffer }>(
      'SELECT id, request_hash FROM transactions WHERE organization_id = $1 AND idempotency_hash = $2',
      [tx.organizationId, digests.key],
    );
    return row && { body: row.request_hash, answer: createdAnswer(await this.ledger.read(tx, row.id)) };
  }

  /** Whoever posted has written them with the row. */
  keep(): Promise<void> {
    return Promise.resolve();
  }
}

/** How a posted transaction is answered. */
export function createdAnswer(transaction: TransactionDto): StoredAnswer {
  const headers = { Location: `/v1/loyalty/transactions/${transaction.id}` };
  return { status: 201, headers, body: transaction };
}
