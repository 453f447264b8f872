import { Controller } from '@nestjs/common';
import {
  type Answer,
  Body,
  Context,
  Endpoint,
  IdempotencyKey,
  type RequestContext,
} from '@customer-platform/http';
import { TransactionDto } from '../ledger/transaction.dto.js';
import { CreateTransactionDto } from './posting.dto.js';
import { PostingsService } from './postings.service.js';

@Controller('v1/loyalty/transactions')
export class PostingsController {
  constructor(private readonly postings: PostingsService) {}

  @Endpoint({
    method: 'POST',
    permission: 'loyalty.transactions.create',
    summary: 'Adjust, spend or reverse points',
    description:
      'Posted once per `Idempotency-Key`, for ever. A debit takes from the lots that end soonest. A reversal posts the opposite of one earn, adjust or spend, once: a credit less what expired of it.',
    idempotency: 'own',
    response: TransactionDto,
    problems: [
      'idempotency_key_required',
      'insufficient_points',
      'already_reversed',
      'not_reversible',
      'reference_not_found',
      'reference_deleted',
      'dependency_unavailable',
    ],
  })
  post(
    @Context() context: RequestContext,
    @Body() body: CreateTransactionDto,
    @IdempotencyKey({ required: true }) key: string,
  ): Promise<Answer> {
    return this.postings.post(context, body, key);
  }
}
