import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  mapPage,
  type ListQuery,
  type Page,
  PurgeEndpoint,
  Query,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import {
  CreateRuleDto,
  RuleDto,
  RuleVersionQuery,
  UpdateRuleDto,
  RULES_LIST,
  toRuleDto,
} from './rule.dto.js';
import { RulesService } from './rules.service.js';

@Controller('v1/loyalty/rules')
export class RulesController {
  constructor(private readonly rules: RulesService) {}

  @CreateEndpoint({
    permission: 'loyalty.rules.create',
    summary: 'Create an earning rule',
    response: RuleDto,
    problems: ['duplicate_value', 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateRuleDto): Promise<Answer> {
    return Answer.newResource(toRuleDto(await this.rules.create(context, body)), '/v1/loyalty/rules');
  }

  @ListEndpoint({ permission: 'loyalty.rules.read', summary: 'List earning rules', response: RuleDto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(RULES_LIST) query: ListQuery,
  ): Promise<Page<RuleDto>> {
    return mapPage(await this.rules.list(context, query), toRuleDto);
  }

  @GetEndpoint({
    permission: 'loyalty.rules.read',
    summary: 'Read an earning rule, or one of its versions',
    response: RuleDto,
  })
  async get(
    @Context() context: RequestContext,
    @Id() id: string,
    @Query() query: RuleVersionQuery,
  ): Promise<Answer> {
    return Answer.resource(toRuleDto(await this.rules.get(context, id, readVersionNumber(query.version))));
  }

  @UpdateEndpoint({
    permission: 'loyalty.rules.update',
    summary: 'Change an earning rule',
    description:
      'Anything beyond `name` makes a new version; events received before keep being judged by the old one.',
    response: RuleDto,
    problems: ['duplicate_value'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateRuleDto,
  ): Promise<Answer> {
    return Answer.resource(toRuleDto(await this.rules.update(context, id, body)));
  }

  @SoftDeleteEndpoint({ permission: 'loyalty.rules.delete', summary: 'Soft-delete an earning rule' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.rules.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'loyalty.rules.delete',
    summary: 'Restore an earning rule',
    response: RuleDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toRuleDto(await this.rules.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'loyalty.rules.purge', summary: 'Purge a rule that never earned' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.rules.purge(context, id);
  }
}

function readVersionNumber(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  const detail = '`version` must be a whole number from 1.';
  throw Problem.validation([{ parameter: 'version', code: 'invalid_format', detail }]);
}
