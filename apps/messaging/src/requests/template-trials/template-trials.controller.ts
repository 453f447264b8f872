import { Controller } from '@nestjs/common';
import { Answer, Body, Context, Endpoint, Id, type RequestContext } from '@customer-platform/http';
import { AcceptedSendDto } from '../sends/send.dto.js';
import { TemplatePreview } from './template-preview.service.js';
import { TemplateTest } from './template-test.service.js';
import { PreviewDto, PreviewResultDto, TestTemplateDto } from './template-trials.dto.js';

@Controller('v1/messaging/templates')
export class TemplateTrialsController {
  constructor(
    private readonly previews: TemplatePreview,
    private readonly tests: TemplateTest,
  ) {}

  @Endpoint({
    method: 'POST',
    path: ':id/preview',
    permission: 'messaging.templates.read',
    operationId: 'Templates.preview',
    summary: 'Render a template as it would be sent',
    success: 200,
    idempotency: 'none',
    response: PreviewResultDto,
    problems: ['render_failed', 'render_limit_exceeded', 'reference_not_found'],
  })
  preview(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: PreviewDto,
  ): Promise<PreviewResultDto> {
    return this.previews.preview(context, id, body);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/test',
    permission: 'messaging.templates.update',
    accepts: 'user',
    operationId: 'Templates.test',
    summary: 'Send a template to oneself',
    description:
      'To the address of the user who asks, and to no other: a key is refused. Any version, a draft too, as ' +
      'transactional mail of no contact: no unsubscribe link is added. Marked by `metadata.test`, and by the template ' +
      'as `source_id`, which nobody can write. At most ten in ten minutes.',
    success: 202,
    idempotency: 'none',
    response: AcceptedSendDto,
    problems: [
      'resource_deleted',
      'recipient_suppressed',
      'recipient_unreachable',
      'channel_not_configured',
      'sender_domain_unverified',
      'dependency_unavailable',
    ],
  })
  test(@Context() context: RequestContext, @Id() id: string, @Body() body: TestTemplateDto): Promise<Answer> {
    return this.tests.send(context, id, body);
  }
}
