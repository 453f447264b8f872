import { Controller } from '@nestjs/common';
import {
  Answer,
  AnyBody,
  Body,
  Context,
  CreateEndpoint,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  SoftDeleteEndpoint,
  validateBody,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { ApiKeyDto, CreateApiKeyDto, IssuedApiKeyDto, RotateApiKeyDto, API_KEY_LIST } from './api-key.dto.js';
import { ApiKeysService } from './api-keys.service.js';

/** Machines' credentials. */
@Controller('v1/identity/api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @ListEndpoint({ permission: 'identity.api_keys.read', summary: 'List API keys', response: ApiKeyDto })
  list(
    @Context() context: RequestContext,
    @ListRequest(API_KEY_LIST) query: ListQuery,
  ): Promise<Page<ApiKeyDto>> {
    return this.keys.list(context, query);
  }

  @CreateEndpoint({
    permission: 'identity.api_keys.create',
    summary: 'Issue an API key',
    description: 'The key is shown in this answer and never again, not in a replayed one either.',
    response: IssuedApiKeyDto,
    secretFields: ['key'],
    problems: [
      'reference_not_found',
      'reference_deleted',
      'role_kind_mismatch',
      'privilege_escalation',
      'limit_reached',
    ],
  })
  async create(
    @Context() context: RequestContext,
    @Body() wish: CreateApiKeyDto,
  ): Promise<Answer<IssuedApiKeyDto>> {
    const issued = await this.keys.create(context, wish);
    return Answer.created(issued, `/v1/identity/api-keys/${issued.id}`);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/rotate',
    permission: 'identity.api_keys.rotate',
    summary: 'Replace an API key by a new one of the same name and role',
    success: 200,
    request: RotateApiKeyDto,
    response: IssuedApiKeyDto,
    secretFields: ['key'],
    problems: ['invalid_state', 'reference_deleted', 'privilege_escalation'],
  })
  async rotate(
    @Context() context: RequestContext,
    @Id() id: string,
    @AnyBody() body: unknown,
  ): Promise<IssuedApiKeyDto> {
    const { expires_in: expiresIn } = await validateBody(RotateApiKeyDto, body ?? {});
    return this.keys.rotate(context, id, expiresIn);
  }

  @SoftDeleteEndpoint({
    tagged: false,
    permission: 'identity.api_keys.rotate',
    summary: 'Revoke an API key',
    description: 'It is refused everywhere within a second. A key that has ended already stays as it is.',
  })
  revoke(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.keys.revoke(context, id);
  }
}
