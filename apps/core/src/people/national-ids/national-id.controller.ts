import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  Endpoint,
  GetEndpoint,
  Id,
  type RequestContext,
} from '@customer-platform/http';
import { FoundContactDto, LookUpContactDto, NationalIdDto } from './national-id.dto.js';
import { NationalIdLookup } from './national-id-lookup.js';
import { NationalIdService } from './national-id.service.js';

@Controller('v1/core/contacts')
export class NationalIdController {
  constructor(
    private readonly nationalIds: NationalIdService,
    private readonly lookup: NationalIdLookup,
  ) {}

  @GetEndpoint({
    permission: 'core.contacts.read_national_id',
    path: ':id/national-id',
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
    if (!('survivorId' in answer)) return new Answer(answer, { 'Cache-Control': 'no-store' });
    return Answer.atSurvivor(`/v1/core/contacts/${answer.survivorId}/national-id`);
  }

  @Endpoint({
    method: 'POST',
    path: 'lookup',
    permission: 'core.contacts.read_national_id',
    summary: 'Find a contact by its national id',
    description:
      'Written as people write it. Every look-up is audited before it is answered, found or not, and so is every ' +
      'refusal; neither the id nor the answer is kept for an `Idempotency-Key`. 60 in a minute of an organization, ' +
      '180 of its tenant.',
    success: 200,
    response: FoundContactDto,
    problems: ['invalid_national_id', 'placeholder_identifier', 'rate_limited', 'dependency_unavailable'],
    idempotency: 'none',
    auditRefusals: true,
  })
  async find(@Context() context: RequestContext, @Body() body: LookUpContactDto): Promise<Answer> {
    return new Answer(await this.lookup.find(context, body), { 'Cache-Control': 'no-store' });
  }
}
