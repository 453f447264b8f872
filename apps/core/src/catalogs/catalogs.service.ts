import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import type { ListQuery, Page } from '@customer-platform/http';
import { NATIONAL_ID_CATALOG } from '../vocabulary/national-ids/national-id-types.js';
import type { CountryDto, CurrencyDto, NationalIdTypeDto, NotificationChannelDto } from './catalog.dto.js';
import { pageOfCatalog, vendored } from './catalog.js';

/** The currencies of ISO 4217 (lists of 2026-01-01, names of CLDR), those withdrawn since 1990 too. */
export const CURRENCIES = vendored<Omit<CurrencyDto, 'code'>>('currencies');

/** The countries of ISO 3166-1, and the withdrawn ones of ISO 3166-3 whose code is free and whose day is known. */
export const COUNTRIES = vendored<Omit<CountryDto, 'code'>>('countries');

/** The channels of messaging. */
export const NOTIFICATION_CHANNELS = vendored<Omit<NotificationChannelDto, 'code'>>('notification-channels');

/** The catalogs: the same for every organization, changed by a release only. */
@Injectable()
export class CatalogsService {
  constructor(private readonly clock: Clock) {}

  /** ISO 4217. */
  currencies(query: ListQuery): Page<CurrencyDto> {
    return pageOfCatalog(CURRENCIES, query, this.today());
  }

  /** ISO 3166. */
  countries(query: ListQuery): Page<CountryDto> {
    return pageOfCatalog(COUNTRIES, query, this.today());
  }

  /** What contacts can carry as `national_id`. */
  nationalIdTypes(query: ListQuery): Page<NationalIdTypeDto> {
    return pageOfCatalog(NATIONAL_ID_CATALOG, query, this.today());
  }

  /** What consents and messages name as `channel`. */
  notificationChannels(query: ListQuery): Page<NotificationChannelDto> {
    return pageOfCatalog(NOTIFICATION_CHANNELS, query, this.today());
  }

  private today(): string {
    return this.clock.now().toISOString().slice(0, 10);
  }
}
