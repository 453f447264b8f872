import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import type { ListDefinition } from '@customer-platform/http';

/** A permission of the registry. */
export class PermissionDto {
  @ApiProperty({ example: 'core.contacts.read' })
  @IsString()
  permission: string;

  @ApiProperty({ example: 'core' })
  @IsString()
  module: string;

  @ApiProperty({ example: 'contacts' })
  @IsString()
  resource: string;

  @ApiProperty({ example: 'read' })
  @IsString()
  action: string;

  @ApiProperty({ example: 'Read contacts' })
  @IsString()
  description: string;
}

/** `GET /v1/identity/permissions` (identity.md §9): the registry has names and no times, so it is sorted by them. */
export const PERMISSION_LIST: ListDefinition = {
  resource: 'permissions',
  filters: {
    module: { type: 'string', column: 'module' },
    resource: { type: 'string', column: 'resource' },
    action: { type: 'string', column: 'action' },
  },
  sorts: { permission: { column: 'permission', type: 'string' } },
  defaultSort: 'permission',
  tieBreaker: { field: 'permission', column: 'permission', type: 'string' },
};
