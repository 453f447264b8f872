import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Body } from '@customer-platform/http';
import type { ReferenceCount } from '../resources/constraints.js';
import { ReferenceHolds } from './reference-holds.js';
import { ReferencesQuestionDto, ReleaseDto } from './references.dto.js';

const OWNERS = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;

/** What the owner of a resource asks before a purge (contract §9). */
@Controller('internal/references')
export class ReferencesController {
  constructor(private readonly holds: ReferenceHolds) {}

  @InternalEndpoint({ method: 'POST', callers: OWNERS })
  async count(@Body() body: ReferencesQuestionDto): Promise<{ references: ReferenceCount[] }> {
    const { organization_id: organizationId, resource, id, hold_id: holdId, hold_ms: holdMs } = body;
    return { references: await this.holds.countAndHold({ organizationId, resource, id }, holdId, holdMs) };
  }

  @InternalEndpoint({ method: 'POST', path: 'release', callers: OWNERS, success: 204 })
  release(@Body() body: ReleaseDto): Promise<void> {
    return this.holds.release(body.organization_id, body.hold_id);
  }
}
