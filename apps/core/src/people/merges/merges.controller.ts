import { Controller } from '@nestjs/common';
import { Answer, Body, Context, Endpoint, type RequestContext } from '@customer-platform/http';
import { MergeContactsDto, MergeDto } from './merge.dto.js';
import { MergesService } from './merges.service.js';

@Controller('v1/core/contacts/merge')
export class MergesController {
  constructor(private readonly merges: MergesService) {}

  @Endpoint({
    method: 'POST',
    permission: 'core.contacts.merge',
    summary: 'Merge two contacts, or undo a merge',
    description:
      'The survivor’s values win, gaps are filled from the other, `keep` overrides; of consents the stricter holds. ' +
      'Merges are undone at any time, last first: what nobody wrote since is as it was. `dry_run` shows either, and ' +
      'its `ETag` as `If-Match` guards the call that means it.',
    success: 200,
    response: MergeDto,
    problems: [
      'reference_not_found',
      'reference_deleted',
      'already_merged',
      'merge_blocked',
      'merge_not_undoable',
      'restore_conflict',
      'etag_mismatch',
      'dependency_unavailable',
    ],
  })
  async merge(@Context() context: RequestContext, @Body() body: MergeContactsDto): Promise<Answer> {
    const { body: outcome, etag } = await this.merges.run(context, body);
    return etag === undefined ? new Answer(outcome) : Answer.tagged(outcome, etag);
  }
}
