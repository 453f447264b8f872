import { Module } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { DispatchModule } from '../dispatch/dispatch.module.js';
import { PeopleModule } from '../people/people.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { DeliverabilityModule } from './deliverability/deliverability.module.js';
import { ReturnLimits, ReturnListener } from './returned-mail/return-listener.js';
import { ReturnedMails } from './returned-mail/returned-mails.service.js';
import { OLD_REPORTS, UNKNOWN_REPORTS, USED_TOKENS } from './webhooks/old-reports.js';
import { ProviderReports } from './webhooks/provider-reports.service.js';
import { ProviderSignatureStrategy } from './webhooks/provider-signature.strategy.js';
import { ReportSweep } from './webhooks/report-sweep.js';
import { ReportsRepository } from './webhooks/reports.repository.js';
import { UsedTokens } from './webhooks/used-tokens.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';
import { WebhooksService } from './webhooks/webhooks.service.js';

/** Reports of what became of sends: as providers tell it, as mail comes back, and counted. */
@Module({
  imports: [DeliverabilityModule, DispatchModule, PeopleModule, SettingsModule],
  controllers: [WebhooksController],
  providers: [
    ProviderReports,
    ProviderSignatureStrategy,
    ReportsRepository,
    ReportSweep,
    ReturnedMails,
    ReturnLimits,
    ReturnListener,
    UsedTokens,
    WebhooksService,
    retentionOf(OLD_REPORTS),
    retentionOf(UNKNOWN_REPORTS),
    retentionOf(USED_TOKENS),
  ],
})
export class ReportsModule {}
