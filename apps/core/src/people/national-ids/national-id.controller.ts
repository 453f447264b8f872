import { Controller } from '@nestjs/common';
import { Answer, Context, GetEndpoint, Id, type RequestContext } from '@customer-platform/http';
import { NationalIdDto } from './national-id.dto.js';
import { NationalIdService } from './national-id.service.js';

@Controller('v1/core/contacts/:id/national-id')
export class NationalIdController {
  constructor(private readonly nationalIds: NationalIdService) {}

  @GetEndpoint({
    permission: 'core.contacts.read_national_id',
    path: '',
    summary: 'Read the national id of a contact in full',
    also: [307],
    description:
      'Every read is audited before it is answered, and so is every refusal. The id of a merged contact redirects (307).',
    response: NationalIdDto,
    problems: ['not_found', 'dependency_unavailable'],
    auditRefusals: true,
  })
  async read(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    const answer = await this.nationalIds.read(context, id);
    const headers = { 'Cache-Control': 'no-store' };
    if (!('survivorId' in answer)) return new Answer(answer, headers);
    const Location = `/v1/core/contacts/${answer.survivorId}/national-id`;
    return new Answer(undefined, { ...headers, Location }, 307);
  }
}
