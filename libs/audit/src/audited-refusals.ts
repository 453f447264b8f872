import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { RefusalRecorder, RefusedCall, RequestContext } from '@customer-platform/http';
import { Audit } from './audit.js';

/**
 * Records calls that were refused for want of a permission, on routes with `auditRefusals`: outcome `denied`. Of a call
 * that names no resource it is the organization.
 */
@Injectable()
export class AuditedRefusals implements RefusalRecorder {
  constructor(
    private readonly database: Database,
    private readonly audit: Audit,
  ) {}

  /** In a transaction of its own, committed before the call is answered. */
  async refused(context: RequestContext, { permission, id }: RefusedCall): Promise<void> {
    const [, type = permission] = permission.split('.');
    const resource = id === undefined ? { type: 'organizations', id: context.organizationId } : { type, id };
    await this.database.inOrganization(context, (tx) =>
      this.audit.record(tx, context, { action: permission, resource, outcome: 'denied' }),
    );
  }
}
