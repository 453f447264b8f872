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
  PurgeEndpoint,
  Query,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import {
  AttributeDefinitionDto,
  ConversionOutcomeDto,
  ConversionQueryDto,
  CreateAttributeDefinitionDto,
  UpdateAttributeDefinitionDto,
  ATTRIBUTE_DEFINITION_LIST,
  toAttributeDefinitionDto,
} from './attribute-definition.dto.js';
import { AttributeDefinitionsService, type Outcome } from './attribute-definitions.service.js';

const PRESENT_VALUES =
  'Values that contacts have already are converted where nothing is lost (`"42"` as 42, a day as its midnight UTC), in ' +
  'pieces; `conversion` shows how far it has come, and rules compare as before until it has ended. Values that cannot be ' +
  'converted: 409 `attribute_migration_conflict`, unless `on_failure` is `clear`. A dry run answers 200 with ' +
  '`convertible`, `unconvertible`, `complete` and `samples`, and writes nothing. Within two seconds as many contacts are ' +
  'looked at as can be; what is left the conversion itself verifies, and where something would be lost it ends with nothing ' +
  'changed. At once 4 dry runs on an instance and 2 of one tenant, else 429; a change then looks at the first contacts only.';

const DEFINITION_OR_OUTCOME = { oneOf: [AttributeDefinitionDto, ConversionOutcomeDto] };

@Controller('v1/core/attribute-definitions')
export class AttributeDefinitionsController {
  constructor(private readonly definitions: AttributeDefinitionsService) {}

  @CreateEndpoint({
    permission: 'core.attributes.create',
    summary: 'Declare an attribute of contacts',
    description: PRESENT_VALUES,
    response: DEFINITION_OR_OUTCOME,
    also: [200],
    problems: ['duplicate_value', 'limit_reached', 'attribute_migration_conflict'],
  })
  async create(
    @Context() context: RequestContext,
    @Body() body: CreateAttributeDefinitionDto,
  ): Promise<Answer> {
    const outcome = await this.definitions.create(context, body);
    if ('forecast' in outcome) return new Answer(outcome.forecast, {}, 200);
    return Answer.newResource(toAttributeDefinitionDto(outcome), '/v1/core/attribute-definitions');
  }

  @ListEndpoint({
    permission: 'core.attributes.read',
    summary: 'List the declared attributes',
    response: AttributeDefinitionDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(ATTRIBUTE_DEFINITION_LIST) query: ListQuery,
  ): Promise<Page<AttributeDefinitionDto>> {
    return mapPage(await this.definitions.list(context, query), toAttributeDefinitionDto);
  }

  @GetEndpoint({
    permission: 'core.attributes.read',
    summary: 'Read the definition of an attribute',
    response: AttributeDefinitionDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toAttributeDefinitionDto(await this.definitions.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'core.attributes.update',
    summary: 'Change the definition of an attribute',
    description:
      `Bounds that another type does not take go with the old one. ${PRESENT_VALUES} One conversion runs at a time: 409 ` +
      '`invalid_state` for a second.',
    response: DEFINITION_OR_OUTCOME,
    problems: ['attribute_migration_conflict', 'invalid_state'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateAttributeDefinitionDto,
    @Query() query: ConversionQueryDto,
  ): Promise<Answer> {
    return answered(await this.definitions.update(context, id, body, query));
  }

  @SoftDeleteEndpoint({
    permission: 'core.attributes.delete',
    summary: 'Soft-delete the definition of an attribute',
    description:
      'What contacts have stays, and is checked no more. 409 `invalid_state` while its values are converted.',
    problems: ['invalid_state'],
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.definitions.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'core.attributes.delete',
    summary: 'Restore the definition of an attribute',
    description: PRESENT_VALUES,
    response: DEFINITION_OR_OUTCOME,
    problems: ['limit_reached', 'attribute_migration_conflict'],
  })
  async restore(
    @Context() context: RequestContext,
    @Id() id: string,
    @Query() query: ConversionQueryDto,
  ): Promise<Answer> {
    return answered(await this.definitions.restore(context, id, query));
  }

  @PurgeEndpoint({
    permission: 'core.attributes.purge',
    summary: 'Purge the definition of an attribute',
    description: 'Segments that ask for an attribute which no other definition declares refer to it.',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.definitions.purge(context, id);
  }
}

function answered(outcome: Outcome): Answer {
  return 'forecast' in outcome
    ? new Answer(outcome.forecast)
    : Answer.resource(toAttributeDefinitionDto(outcome));
}
