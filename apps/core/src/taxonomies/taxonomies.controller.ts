import { Controller } from '@nestjs/common';
import {
  Body,
  Context,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { TaxonomiesService } from './taxonomies.service.js';
import { InstalledTaxonomyDto, InstallTaxonomyDto, TaxonomyDto, TAXONOMY_LIST } from './taxonomy.dto.js';

@Controller('v1/core/taxonomies')
export class TaxonomiesController {
  constructor(private readonly taxonomies: TaxonomiesService) {}

  @ListEndpoint({
    permission: 'core.taxonomies.read',
    summary: 'List the event taxonomies',
    description: 'Each in its newest version, with what the organization has installed of it.',
    response: TaxonomyDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(TAXONOMY_LIST) query: ListQuery,
  ): Promise<Page<TaxonomyDto>> {
    return this.taxonomies.list(context, query);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/install',
    permission: 'core.taxonomies.install',
    summary: 'Install an event taxonomy, or change how it is enforced',
    description:
      'The body is the whole of what is wanted: `mode` is `warn` and `overrides` are none where they are absent. The id ' +
      'of another version installs that one in its place. It counts on every instance within two seconds. With ' +
      '`dry_run` the newest stored events are held against it, for two seconds at most, and few are worked on at once: ' +
      '`429` says when to come back.',
    success: 200,
    response: InstalledTaxonomyDto,
    problems: ['invalid_id', 'not_found'],
  })
  install(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: InstallTaxonomyDto,
  ): Promise<InstalledTaxonomyDto> {
    return this.taxonomies.install(context, id, body);
  }
}
