import { createHmac } from 'node:crypto';
import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule, timelineRoute } from '@customer-platform/authorization';
import {
  Clock,
  Database,
  DatabaseModule,
  IdempotentCalls,
  organizationRetention,
  retentionOf,
  ReferencesModule,
  SubjectRowsModule,
} from '@customer-platform/database';
import { ErasureModule } from '@customer-platform/erasure';
import { EventBusModule } from '@customer-platform/event-bus';
import { PepperCheck } from './people/suppressions/pepper-check.js';
import { CampaignEntity } from './requests/campaigns/campaign.entity.js';
import { CampaignsModule } from './requests/campaigns/campaigns.module.js';
import { CAMPAIGNS_ON_AUDIENCES } from './requests/campaigns/campaigns.service.js';
import { ChannelSettingsController } from './settings/channels/channel-settings.controller.js';
import { ChannelSettingsService } from './settings/channels/channel-settings.service.js';
import { DeliverabilityModule } from './reports/deliverability/deliverability.module.js';
import { EventsConsumer } from './events.consumer.js';
import { ContactErasure } from './contact-erasure.js';
import { SUBJECT_TABLES } from './subject-tables.js';
import { ContactProjection } from './people/contacts/contact-projection.js';
import { FoundationModule } from './foundation.module.js';
import { GateModule } from './dispatch/gate/gate.module.js';
import { IdentityMail } from './requests/identity-mail/identity-mail.service.js';
import { MESSAGING_CONFIG, type MessagingConfig } from './vocabulary/config/messaging.config.js';
import { MembersModule } from './people/members/members.module.js';
import { migrations } from './migrations/index.js';
import { ORGANIZATION_IN_MESSAGING } from './organization-references.js';
import { OrganizationStates } from './background/organizations/organization-states.js';
import { RETAINED_DELIVERIES } from './webhook-endpoints/deliveries/retained-deliveries.js';
import { RETAINED_SENDS } from './dispatch/sends/retained-sends.js';
import { ReturnLimits, ReturnListener } from './reports/returned-mail/return-listener.js';
import { ReturnedMails } from './reports/returned-mail/returned-mails.service.js';
import { Router } from './requests/routing/router.js';
import { RoutingController } from './requests/routing/routing.controller.js';
import { RoutingService } from './requests/routing/routing.service.js';
import { RuleCache } from './requests/routing/rule-cache.js';
import { RuleEntity } from './requests/routing/rule.entity.js';
import { WaitingEvents } from './requests/routing/waiting-events.js';
import { AcceptanceReader } from './requests/sends/acceptance-facts.js';
import { RuleCancellation } from './requests/sends/rule-cancellation.js';
import { SendAcceptance } from './requests/sends/send-acceptance.service.js';
import { SenderDomainEntity } from './settings/sender-domains/sender-domain.entity.js';
import { SenderDomainsModule } from './settings/sender-domains/sender-domains.module.js';
import { SendsController } from './requests/sends/sends.controller.js';
import { SENDS_TO_CONTACTS } from './dispatch/sends/sends.repository.js';
import { SendsService } from './requests/sends/sends.service.js';
import { SendsTimeline } from './requests/sends/sends-timeline.js';
import { SuspendedSends } from './requests/sends/suspended-sends.js';
import { SuppressionsController } from './people/suppressions/suppressions.controller.js';
import { TemplateEntity } from './content/templates/template.entity.js';
import { TemplateHistory } from './content/templates/template-history.service.js';
import { TemplatePreview } from './requests/template-trials/template-preview.service.js';
import { TemplateTest } from './requests/template-trials/template-test.service.js';
import { TemplateTrialsController } from './requests/template-trials/template-trials.controller.js';
import { TemplatesController } from './content/templates/templates.controller.js';
import { TemplateExpansion } from './content/templates/template-expansion.js';
import { TemplatesService } from './content/templates/templates.service.js';
import { UsedTemplates } from './content/templates/used-templates.js';
import { UserAddresses } from './requests/template-trials/user-addresses.js';
import { WebhookEndpointEntity } from './webhook-endpoints/webhook-endpoint.entity.js';
import { WebhookEndpointsModule } from './webhook-endpoints/webhook-endpoints.module.js';
import { OLD_REPORTS, UNKNOWN_REPORTS, USED_TOKENS } from './reports/webhooks/old-reports.js';
import { ProviderReports } from './reports/webhooks/provider-reports.service.js';
import { ReportSweep } from './reports/webhooks/report-sweep.js';
import { UsedTokens } from './reports/webhooks/used-tokens.js';
import { ReportsRepository } from './reports/webhooks/reports.repository.js';
import { WebhooksController } from './reports/webhooks/webhooks.controller.js';
import { ProviderSignatureStrategy } from './reports/webhooks/provider-signature.strategy.js';
import { WebhooksService } from './reports/webhooks/webhooks.service.js';

/** Channels, event routing, templates, sends, suppressions, and the one gate they all lead through. */
@Module({
  imports: [
    DatabaseModule.forRoot({
      module: 'messaging',
      entities: [CampaignEntity, RuleEntity, SenderDomainEntity, TemplateEntity, WebhookEndpointEntity],
      migrations,
    }),
    EventBusModule.forRoot({ module: 'messaging' }),
    AuditModule.forRoot({ module: 'messaging' }),
    AuthorizationModule.forRoot({ module: 'messaging', calls: ['core', 'crm'] }),
    ReferencesModule.forRoot({
      module: 'messaging',
      references: [SENDS_TO_CONTACTS, ...CAMPAIGNS_ON_AUDIENCES, ...ORGANIZATION_IN_MESSAGING],
    }),
    ErasureModule.forRoot({ module: 'messaging' }),
    SubjectRowsModule.forRoot({ tables: SUBJECT_TABLES }),
    DeliverabilityModule,
    CampaignsModule,
    FoundationModule,
    GateModule,
    MembersModule,
    SenderDomainsModule,
    WebhookEndpointsModule,
  ],
  controllers: [
    ChannelSettingsController,
    EventsConsumer,
    RoutingController,
    SendsController,
    SuppressionsController,
    TemplatesController,
    TemplateTrialsController,
    WebhooksController,
  ],
  providers: [
    {
      provide: IdempotentCalls,
      inject: [Database, Clock, MESSAGING_CONFIG],
      // Sends are remembered for ever: the secret is derived from the one key that outlives them.
      useFactory: (database: Database, clock: Clock, { encryptionKey }: MessagingConfig) =>
        new IdempotentCalls(
          database,
          clock,
          createHmac('sha256', encryptionKey).update('idempotency of sends').digest('hex'),
        ),
    },
    ChannelSettingsService,
    ContactErasure,
    ContactProjection,
    IdentityMail,
    OrganizationStates,
    PepperCheck,
    Router,
    RoutingService,
    RuleCache,
    RuleCancellation,
    AcceptanceReader,
    SendAcceptance,
    SendsService,
    SendsTimeline,
    timelineRoute(SendsTimeline),
    SuspendedSends,
    TemplateHistory,
    TemplatePreview,
    TemplateTest,
    TemplateExpansion,
    TemplatesService,
    UsedTemplates,
    UserAddresses,
    ProviderReports,
    ReportSweep,
    UsedTokens,
    ReportsRepository,
    ReturnLimits,
    ReturnListener,
    ReturnedMails,
    WaitingEvents,
    ProviderSignatureStrategy,
    WebhooksService,
    retentionOf(UNKNOWN_REPORTS),
    retentionOf(OLD_REPORTS),
    retentionOf(USED_TOKENS),
    organizationRetention(RETAINED_SENDS, RETAINED_DELIVERIES),
  ],
})
export class MessagingModule {}
