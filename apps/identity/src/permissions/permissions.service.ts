import { Injectable } from '@nestjs/common';
import { Database, pageOf } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { permissionDescriptors, type PermissionDescriptor } from '@customer-platform/permissions';

const descriptors = permissionDescriptors();

const SELECT = `
SELECT permission COLLATE "C" AS permission, module, resource, action, description
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
    AS registry (permission, module, resource, action, description)`;

const PARAMETERS = [
  descriptors.map(({ permission }) => permission),
  descriptors.map(({ module }) => module),
  descriptors.map(({ resource }) => resource),
  descriptors.map(({ action }) => action),
  descriptors.map(({ description }) => description),
];

/** The permission registry, which is part of the build: filtered and paged by the means of every other list. */
@Injectable()
export class PermissionsService {
  constructor(private readonly database: Database) {}

  async list(context: RequestContext, query: ListQuery): Promise<Page<PermissionDescriptor>> {
    return this.database.inOrganization(context, (tx) =>
      pageOf<PermissionDescriptor>(tx, SELECT, query, { parameters: PARAMETERS }),
    );
  }
}
