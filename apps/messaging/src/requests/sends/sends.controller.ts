import { Controller } from '@nestjs/common';
import {
  type Answer,
  Body,
  Context,
  Endpoint,
  Id,
  IdempotencyKey,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { SendAcceptance } from './send-acceptance.service.js';
import {
  AcceptedSendDto,
  CreateSendDto,
  SendDto,
  SendStepDto,
  HISTORY_LIST,
  SENDS_LIST,
} from './send.dto.js';
import { SendsService } from './sends.service.js';

@Controller('v1/messaging/sends')
export class SendsController {
  constructor(
    private readonly acceptance: SendAcceptance,
    private readonly sends: SendsService,
  ) {}

  @Endpoint({
    method: 'POST',
    permission: 'messaging.sends.create',
    summary: 'Send a message',
    description:
      'Accepted when committed. The key’s answer stands for ever, a refused suppressed recipient’s too. `content` that ' +
      'reads the contact needs `core.contacts.read` too.',
    apiClass: 'runtime',
    latencyClass: 'messaging_runtime',
    success: 202,
    idempotency: 'own',
    response: AcceptedSendDto,
    problems: [
      'idempotency_key_required',
      'invalid_address',
      'recipient_suppressed',
      'recipient_unreachable',
      'channel_not_configured',
      'sender_domain_unverified',
      'template_invalid',
      'reference_not_found',
      'reference_deleted',
    ],
  })
  accept(
    @Context() context: RequestContext,
    @Body() body: CreateSendDto,
    @IdempotencyKey({ required: true }) key: string,
  ): Promise<Answer> {
    return this.acceptance.accept(context, body, key);
  }

  @ListEndpoint({
    permission: 'messaging.sends.read',
    summary: 'List sends',
    description: 'A timeline source by `contact_id`; a merged contact’s sends stand with its survivor’s.',
    response: SendDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(SENDS_LIST) query: ListQuery,
  ): Promise<Page<SendDto>> {
    return this.sends.list(context, query);
  }

  @ListEndpoint({
    path: ':id/history',
    permission: 'messaging.sends.read',
    summary: 'List the steps of a send, oldest first',
    response: SendStepDto,
  })
  history(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(HISTORY_LIST) query: ListQuery,
  ): Promise<Page<SendStepDto>> {
    return this.sends.history(context, id, query);
  }
}
