import { Controller } from '@nestjs/common';
import { ApiProperty, PartialType } from '@nestjs/swagger';
import { ResourceStores, type ResourceStore } from '@customer-platform/database';
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
  MayBeAbsent,
  MayBeNull,
  PurgeEndpoint,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type ListDefinition,
  type ListQuery,
  type RequestContext,
} from '@customer-platform/http';
import { IsInt, IsString, Length } from 'class-validator';
import { Widget } from './widget.entity.js';

const WIDGETS: ListDefinition = {
  resource: 'widgets',
  defaultSort: '-created_at',
  includeDeleted: true,
  filters: { created_at: { type: 'time', column: 'created_at' } },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
};

class CreateWidgetDto {
  @ApiProperty()
  @IsString()
  @Length(1, 50)
  name: string;

  @ApiProperty({ required: false, nullable: true, type: 'integer' })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  weight?: number | null;
}

class UpdateWidgetDto extends PartialType(CreateWidgetDto) {}

@Controller('v1/loyalty/widgets')
export class WidgetsController {
  private readonly widgets: ResourceStore<Widget>;

  constructor(stores: ResourceStores) {
    this.widgets = stores.of<Widget>({
      entity: Widget,
      module: 'loyalty',
      resource: 'rules',
      constraints: { unique: { widgets_name: { field: 'name', pointer: '/name', value: 'lower(name)' } } },
      event: ({ verb, row, changed }) => ({
        type: `loyalty.rule.${verb}.v1`,
        key: row.id,
        subject: `widgets/${row.id}`,
        data: { id: row.id, version: 1, changed },
      }),
    });
  }

  @CreateEndpoint({ permission: 'loyalty.rules.create', summary: 'Create a widget' })
  async create(@Context() context: RequestContext, @Body() body: CreateWidgetDto): Promise<Answer> {
    const widget = await this.widgets.create(context, { ...body });
    return Answer.created(toDto(widget), `/v1/loyalty/widgets/${widget.id}`);
  }

  @ListEndpoint({ permission: 'loyalty.rules.read', summary: 'List widgets' })
  async list(@Context() context: RequestContext, @ListRequest(WIDGETS) query: ListQuery): Promise<object> {
    return mapPage(await this.widgets.page(context, query), toDto);
  }

  @GetEndpoint({ permission: 'loyalty.rules.read', summary: 'Read a widget' })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toDto(await this.widgets.get(context, id)));
  }

  @UpdateEndpoint({ permission: 'loyalty.rules.update', summary: 'Change a widget' })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateWidgetDto,
  ): Promise<Answer> {
    return Answer.resource(toDto(await this.widgets.update(context, id, { ...body })));
  }

  @SoftDeleteEndpoint({ permission: 'loyalty.rules.delete', summary: 'Soft-delete a widget' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.widgets.softDelete(context, id);
  }

  @RestoreEndpoint({ permission: 'loyalty.rules.delete', summary: 'Restore a widget' })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toDto(await this.widgets.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'loyalty.rules.purge', summary: 'Purge a widget' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.widgets.purge(context, id);
  }
}

function toDto(widget: Widget) {
  return {
    id: widget.id,
    name: widget.name,
    weight: widget.weight,
    created_at: widget.createdAt.toISOString(),
    updated_at: widget.updatedAt.toISOString(),
    deleted_at: widget.deletedAt?.toISOString() ?? null,
  };
}
