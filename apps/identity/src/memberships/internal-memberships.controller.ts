import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Body } from '@customer-platform/http';
import { MembershipQuestionDto, type MembershipState } from './internal-memberships.dto.js';
import { InternalMembershipsService } from './internal-memberships.service.js';

@Controller('internal/memberships')
export class InternalMembershipsController {
  constructor(private readonly memberships: InternalMembershipsService) {}

  @InternalEndpoint({ method: 'POST', path: 'check', callers: ['crm'] })
  async check(@Body() body: MembershipQuestionDto): Promise<{ state: MembershipState }> {
    return { state: await this.memberships.stateOf(body.organization_id, body.user_id) };
  }

  /** Of the user alone who asks for something to be sent to themselves. */
  @InternalEndpoint({ method: 'POST', path: 'address', callers: ['messaging'] })
  async address(@Body() body: MembershipQuestionDto): Promise<{ address: string | null }> {
    return { address: await this.memberships.addressOf(body.organization_id, body.user_id) };
  }
}
