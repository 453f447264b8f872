import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  Endpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { ARCHIVE_TYPE, ArchiveDownload } from './archive/archive-download.js';
import {
  CreateSubjectRequestDto,
  SubjectRequestDto,
  UpdateSubjectRequestDto,
} from './subject-request.dto.js';
import { SUBJECT_REQUEST_LIST } from './subject-request.list.js';
import { SubjectRequestsService } from './subject-requests.service.js';

@Controller('v1/core/subject-requests')
export class SubjectRequestsController {
  constructor(
    private readonly requests: SubjectRequestsService,
    private readonly downloads: ArchiveDownload,
  ) {}

  @Endpoint({
    method: 'POST',
    path: '',
    permission: 'core.subject_requests.create',
    summary: 'Open a request of a data subject',
    description:
      'With `verification` it begins at once: an erasure cannot be taken back. Without, it waits for it in `verifying`. ' +
      'A rectification, an opposition and a blocking are carried out by staff and wait for their `completion`. ' +
      'Of a person one access and one portability are open at a time: another is 409 `invalid_state`, with the open one ' +
      'as `conflicting_id`.',
    success: 202,
    response: SubjectRequestDto,
    problems: ['reference_not_found', 'placeholder_identifier', 'invalid_state'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateSubjectRequestDto): Promise<Answer> {
    const { body: request, etag } = await this.requests.create(context, body);
    const Location = `/v1/core/subject-requests/${request.id}`;
    return new Answer(request, { Location, ETag: etag }, 202);
  }

  @ListEndpoint({
    permission: 'core.subject_requests.read',
    summary: 'List the requests of data subjects',
    response: SubjectRequestDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(SUBJECT_REQUEST_LIST) query: ListQuery,
  ): Promise<Page<SubjectRequestDto>> {
    return this.requests.list(context, query);
  }

  @GetEndpoint({
    permission: 'core.subject_requests.read',
    summary: 'Read a request of a data subject',
    description:
      'With `Accept: application/zip` the archive of an access or a portability, for 30 days; each time is audited. It ' +
      'needs `core.contacts.read` too, and `core.contacts.read_national_id` where the archive holds a national id in ' +
      'full, which is audited as a read of it: 403 `permission_denied` otherwise. 409 `invalid_state` while there is ' +
      'none, 404 `result_expired` afterwards.',
    response: SubjectRequestDto,
    download: ARCHIVE_TYPE,
    problems: ['invalid_state', 'result_expired'],
  })
  async get(
    @Context() context: RequestContext,
    @Id() id: string,
    @Req() request: IncomingMessage,
  ): Promise<Answer> {
    if (wantsArchive(request.headers.accept)) return this.downloads.open(context, id);
    const { body, etag } = await this.requests.get(context, id);
    return Answer.tagged(body, etag);
  }

  @Endpoint({
    method: 'PATCH',
    path: ':id',
    permission: 'core.subject_requests.create',
    summary: 'Verify, extend, reject or complete a request of a data subject',
    description:
      'One of the four. `verification` begins an erasure, which cannot be taken back; one that waits can be rejected, ' +
      'one that is open be extended once. A rectification, an opposition or a blocking in progress can be rejected too, ' +
      'or completed: `completion` says what was done, and withdraws the consents that an opposition names.',
    response: SubjectRequestDto,
    problems: ['invalid_state', 'etag_mismatch'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateSubjectRequestDto,
  ): Promise<Answer> {
    const { body: request, etag } = await this.requests.update(context, id, body);
    return Answer.tagged(request, etag);
  }
}

/** Named as such: whoever takes anything takes JSON. */
function wantsArchive(accept = ''): boolean {
  return accept.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === ARCHIVE_TYPE);
}
