import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Body } from '@customer-platform/http';
import { SubjectRowsQuestionDto } from './subject-rows.dto.js';
import { SubjectRows, type SubjectPage } from './subject-rows.js';

/** What core asks for a person's access or portability (contract §9). */
@Controller('internal/subject-rows')
export class SubjectRowsController {
  constructor(private readonly rows: SubjectRows) {}

  @InternalEndpoint({ method: 'POST', callers: ['core'] })
  page(@Body() body: SubjectRowsQuestionDto): Promise<SubjectPage> {
    const { after_resource: resource, after_contact_id: contact, after_place: place } = body;
    return this.rows.page({
      organizationId: body.organization_id,
      contactIds: body.contact_ids,
      portable: body.portable,
      ...(resource !== undefined &&
        contact !== undefined && { after: { resource, contact_id: contact, place: place ?? [] } }),
    });
  }
}
