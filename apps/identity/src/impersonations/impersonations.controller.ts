import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  Id,
  SoftDeleteEndpoint,
  type RequestContext,
} from '@customer-platform/http';
import { ImpersonationDto, StartImpersonationDto } from './impersonation.dto.js';
import { ImpersonationsService } from './impersonations.service.js';

/** How a user acts as another. */
@Controller('v1/identity/impersonations')
export class ImpersonationsController {
  constructor(private readonly impersonations: ImpersonationsService) {}

  @CreateEndpoint({
    permission: 'identity.impersonation.start',
    accepts: 'user',
    summary: 'Act as another user of the organization for a while',
    description:
      'In a session with a second factor, by who holds all that the user holds. The token lets do what both may, but of ' +
      'identity only to read; what is done with it is recorded under both names.',
    response: ImpersonationDto,
    secretFields: ['access_token'],
    problems: ['mfa_required', 'reference_not_found', 'invalid_state', 'privilege_escalation'],
  })
  async start(@Context() context: RequestContext, @Body() body: StartImpersonationDto): Promise<Answer> {
    const started = await this.impersonations.start(context, body);
    return Answer.created(started, `/v1/identity/impersonations/${started.id}`, {
      'Cache-Control': 'no-store',
    });
  }

  @SoftDeleteEndpoint({
    tagged: false,
    permission: 'identity.impersonation.stop',
    summary: 'End an impersonation, whoever began it',
    description: 'Its token is refused within a second. One that has ended stays as it is.',
  })
  stop(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.impersonations.stop(context, id);
  }
}
