import { Controller } from '@nestjs/common';
import {
  Body,
  Context,
  Endpoint,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { ExplainPermissionDto, PermissionExplanationDto } from './permission-explanations.dto.js';
import { PermissionExplanations } from './permission-explanations.service.js';
import { PermissionDto, PERMISSION_LIST } from './permission.dto.js';
import { PermissionsService } from './permissions.service.js';

/** The permission registry, and who holds what of it. */
@Controller('v1/identity/permissions')
export class PermissionsController {
  constructor(
    private readonly permissions: PermissionsService,
    private readonly explanations: PermissionExplanations,
  ) {}

  @ListEndpoint({
    permission: 'identity.permissions.read',
    summary: 'List the permissions of the platform',
    response: PermissionDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(PERMISSION_LIST) query: ListQuery,
  ): Promise<Page<PermissionDto>> {
    return this.permissions.list(context, query);
  }

  @Endpoint({
    method: 'POST',
    path: 'explain',
    permission: 'identity.roles.read',
    summary: 'Explain why a principal of the organization holds a permission, or does not',
    success: 200,
    idempotency: 'none',
    response: PermissionExplanationDto,
    problems: ['reference_not_found'],
  })
  explain(
    @Context() context: RequestContext,
    @Body() body: ExplainPermissionDto,
  ): Promise<PermissionExplanationDto> {
    return this.explanations.explain(context, body);
  }
}
