import { Controller } from '@nestjs/common';
import {
  Context,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { MergeSuggestionDto, SUGGESTION_LIST } from './suggestion.dto.js';
import { SuggestionsService } from './suggestions.service.js';

@Controller('v1/core/merge-suggestions')
export class SuggestionsController {
  constructor(private readonly suggestions: SuggestionsService) {}

  @ListEndpoint({
    permission: 'core.contacts.merge',
    summary: 'List contacts that may be one person',
    description: 'Raised where two identified contacts claim one value. None is merged by itself.',
    response: MergeSuggestionDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(SUGGESTION_LIST) query: ListQuery,
  ): Promise<Page<MergeSuggestionDto>> {
    return this.suggestions.list(context, query);
  }
}
