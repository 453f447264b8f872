import { Controller } from '@nestjs/common';
import {
  AnyBody,
  Answer,
  Body,
  Context,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  mapPage,
  type ListDefinition,
  type ListQuery,
  type Page,
  Query,
  readNaturalKey,
  type RequestContext,
  SoftDeleteEndpoint,
} from '@customer-platform/http';
import { CHANNELS } from '../../vocabulary/addresses/channel.js';
import {
  CreateSuppressionDto,
  SuppressionDto,
  SuppressionKeyDto,
  toListedDto,
  toSuppressionDto,
} from './suppression.dto.js';
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from '../../vocabulary/suppressions/suppression.js';
import { Suppressions } from './suppressions.service.js';

const SUPPRESSIONS_LIST: ListDefinition = {
  resource: 'messaging.suppressions',
  filters: {
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    address: {
      type: 'string',
      column: 'key',
      ops: ['eq', 'in'],
      description: 'Any spelling of the address.',
    },
    reason: { type: 'enum', column: 'reason', values: SUPPRESSION_REASONS },
    scope: { type: 'enum', column: 'scope', values: SUPPRESSION_SCOPES },
    created_at: { type: 'time', column: 'created_at' },
    lifted_by: {
      type: 'uuid',
      column: 'lifted_by_id',
      ops: ['eq', 'in'],
      description: 'The id of who lifted it; with `lifted=true`.',
    },
    lifted_at: { type: 'time', column: 'lifted_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    // No time, of those that stand, comes first, as an index has it.
    lifted_at: { type: 'time', column: 'lifted_at', only: 'desc', nulls: 'first' },
  },
  defaultSort: '-created_at',
  extraParameters: {
    lifted: {
      type: 'boolean',
      description: 'True: those that were lifted, which block nobody, and no others.',
    },
  },
};

@Controller('v1/messaging/suppressions')
export class SuppressionsController {
  constructor(private readonly suppressions: Suppressions) {}

  @ListEndpoint({
    permission: 'messaging.suppressions.read',
    summary: 'List suppressions',
    response: SuppressionDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(SUPPRESSIONS_LIST) query: ListQuery,
  ): Promise<Page<SuppressionDto>> {
    return mapPage(await this.suppressions.list(context, query), toListedDto);
  }

  @Endpoint({
    method: 'POST',
    permission: 'messaging.suppressions.create',
    summary: 'Suppress an address or a mail domain',
    also: [200],
    description:
      'When the answer is there, no hand-off to it begins any more. A repeat is 200 with the first row.',
    success: 201,
    response: SuppressionDto,
    problems: ['invalid_address'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateSuppressionDto): Promise<Answer> {
    const { row, created } = await this.suppressions.add(context, {
      channel: body.channel,
      scope: body.scope ?? 'address',
      address: body.address,
      reason: body.reason ?? 'manual',
      note: body.note ?? null,
    });
    const shown = toSuppressionDto(row);
    return created
      ? Answer.created(shown, `/v1/messaging/suppressions/${row.id}`)
      : new Answer(shown, {}, 200);
  }

  @SoftDeleteEndpoint({
    tagged: false,
    permission: 'messaging.suppressions.delete',
    summary: 'Lift a suppression',
    description: 'Audited with who did it.',
  })
  lift(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.suppressions.lift(context, id);
  }

  @Endpoint({
    method: 'DELETE',
    permission: 'messaging.suppressions.delete',
    summary: 'Lift the suppression of an address',
    description: 'By `channel` and `address` in the query, or in a JSON body. Audited with who did it.',
    success: 204,
    problems: ['invalid_address', 'not_found'],
  })
  async liftByAddress(
    @Context() context: RequestContext,
    @Query() query: SuppressionKeyDto,
    @AnyBody() body: unknown,
  ): Promise<void> {
    const key = await readNaturalKey(SuppressionKeyDto, { query, body }, ['channel', 'address']);
    await this.suppressions.liftByAddress(context, key.channel, key.address);
  }
}
