import { Controller } from '@nestjs/common';
import { ListEndpoint, ListRequest, type ListQuery, type Page } from '@customer-platform/http';
import { CountryDto, CurrencyDto, NationalIdTypeDto, NotificationChannelDto } from './catalog.dto.js';
import { catalogList } from './catalog.js';
import { CatalogsService } from './catalogs.service.js';

const permission = 'core.catalogs.read';

@Controller('v1/core')
export class CatalogsController {
  constructor(private readonly catalogs: CatalogsService) {}

  @ListEndpoint({ path: 'currencies', permission, summary: 'List the currencies', response: CurrencyDto })
  currencies(@ListRequest(catalogList('currencies')) query: ListQuery): Page<CurrencyDto> {
    return this.catalogs.currencies(query);
  }

  @ListEndpoint({ path: 'countries', permission, summary: 'List the countries', response: CountryDto })
  countries(@ListRequest(catalogList('countries')) query: ListQuery): Page<CountryDto> {
    return this.catalogs.countries(query);
  }

  @ListEndpoint({
    path: 'national-id-types',
    permission,
    summary: 'List the kinds of national id',
    response: NationalIdTypeDto,
  })
  nationalIdTypes(@ListRequest(catalogList('national-id-types')) query: ListQuery): Page<NationalIdTypeDto> {
    return this.catalogs.nationalIdTypes(query);
  }

  @ListEndpoint({
    path: 'notification-channels',
    permission,
    summary: 'List the channels of messages',
    response: NotificationChannelDto,
  })
  notificationChannels(
    @ListRequest(catalogList('notification-channels')) query: ListQuery,
  ): Page<NotificationChannelDto> {
    return this.catalogs.notificationChannels(query);
  }
}
