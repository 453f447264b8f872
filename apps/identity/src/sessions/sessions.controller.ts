import { Controller } from '@nestjs/common';
import {
  Context,
  Id,
  ListEndpoint,
  ListRequest,
  SoftDeleteEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { SessionDto, SESSIONS_LIST } from './session.dto.js';
import { SessionsService } from './sessions.service.js';

/** Who is signed in, from where, and since when. */
@Controller('v1/identity/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @ListEndpoint({
    permission: 'identity.sessions.read',
    summary: 'List one’s own sessions; with `identity.users.update` everybody’s',
    description: 'Also those in which somebody else acts as the user: who, and why.',
    response: SessionDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(SESSIONS_LIST) query: ListQuery,
  ): Promise<Page<SessionDto>> {
    return this.sessions.list(context, query);
  }

  @SoftDeleteEndpoint({
    tagged: false,
    permission: 'identity.sessions.revoke',
    summary: 'End a session of one’s own; with `identity.users.update` anybody’s',
    description:
      'Its tokens are refused within a second. So ends an impersonation, too. Another session of one’s own takes a ' +
      'sign-in within the last ten minutes.',
    problems: ['fresh_sign_in_required'],
  })
  revoke(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.sessions.revoke(context, id);
  }
}
