import { Controller } from '@nestjs/common';
import { ContactReferences } from '@customer-platform/contact-refs';
import {
  Answer,
  Context,
  Endpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  Query,
  type RequestContext,
} from '@customer-platform/http';
import { LedgerSummary } from './ledger-summary.js';
import { LedgerSummaryDto, LedgerSummaryQueryDto } from './ledger-summary.dto.js';
import { LedgerService } from './ledger.service.js';
import { BalanceDto, LineDto, LINES_LIST, TransactionDto, TRANSACTIONS_LIST } from './transaction.dto.js';

@Controller('v1/loyalty')
export class LedgerController {
  constructor(
    private readonly ledger: LedgerService,
    private readonly sums: LedgerSummary,
    private readonly contacts: ContactReferences,
  ) {}

  @ListEndpoint({
    path: 'transactions',
    permission: 'loyalty.transactions.read',
    summary: 'List the ledger',
    description:
      'Append-only. With one `contact_id` it can be sorted by `occurred_at` and entered at any point of it.',
    response: TransactionDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(TRANSACTIONS_LIST) query: ListQuery,
  ): Promise<Page<TransactionDto>> {
    return this.ledger.list(context, query);
  }

  @GetEndpoint({
    path: 'transactions/:id',
    permission: 'loyalty.transactions.read',
    summary: 'Read a transaction',
    response: TransactionDto,
  })
  get(@Context() context: RequestContext, @Id() id: string): Promise<TransactionDto> {
    return this.ledger.get(context, id);
  }

  @ListEndpoint({
    path: 'transactions/:id/lines',
    permission: 'loyalty.transactions.read',
    summary: 'List what a transaction did to lots',
    description: 'A transaction itself shows the first 100.',
    response: LineDto,
    problems: ['not_found'],
  })
  lines(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(LINES_LIST) query: ListQuery,
  ): Promise<Page<LineDto>> {
    return this.ledger.lines(context, id, query);
  }

  @Endpoint({
    method: 'GET',
    path: 'summary',
    permission: 'loyalty.transactions.read',
    summary: 'Sum what was added to the ledger',
    description:
      'By kind, of all rows that were created from `from` on and before `to`, erased ones included.',
    response: LedgerSummaryDto,
  })
  summary(
    @Context() context: RequestContext,
    @Query() query: LedgerSummaryQueryDto,
  ): Promise<LedgerSummaryDto> {
    return this.sums.of(context, query);
  }

  @GetEndpoint({
    path: 'contacts/:id/balance',
    permission: 'loyalty.balances.read',
    summary: 'Read a contact’s points',
    description: 'The id of a merged contact redirects (307) to its survivor.',
    response: BalanceDto,
    problems: ['not_found', 'dependency_unavailable'],
  })
  async balance(@Context() context: RequestContext, @Id() id: string): Promise<BalanceDto | Answer> {
    const survivor = await this.contacts.survivorOf(context.organizationId, id);
    if (survivor !== id) return Answer.atSurvivor(`/v1/loyalty/contacts/${survivor}/balance`);
    return this.ledger.balance(context, id);
  }
}
