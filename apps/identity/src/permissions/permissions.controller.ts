import { Controller } from '@nestjs/common';
import {
  Context,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { PermissionDto } from './permission.dto.js';
import { PERMISSION_LIST } from './permissions.list.js';
import { PermissionsService } from './permissions.service.js';

/** The permission registry. */
@Controller('v1/identity/permissions')
export class PermissionsController {
  constructor(private readonly permissions: PermissionsService) {}

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
}
