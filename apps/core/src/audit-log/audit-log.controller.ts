import { Controller } from '@nestjs/common';
import { Context, Endpoint, ListRequest, type ListQuery, type RequestContext } from '@customer-platform/http';
import { AuditLogDto, AUDIT_LIST } from './audit-log.dto.js';
import { AuditLogService } from './audit-log.service.js';

@Controller('v1/core/audit-log')
export class AuditLogController {
  constructor(private readonly log: AuditLogService) {}

  @Endpoint({
    method: 'GET',
    permission: 'core.audit.read',
    summary: 'Read who did what',
    description:
      'The acts of all modules as one chain of hashes: each row covers the row before it, and signed checkpoints, ' +
      'also kept outside the database, say what the chain was.',
    response: AuditLogDto,
  })
  list(@Context() context: RequestContext, @ListRequest(AUDIT_LIST) query: ListQuery): Promise<AuditLogDto> {
    return this.log.list(context, query);
  }
}
