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
import { PepperCheck } from './suppressions/pepper-check.js';
import { CampaignEntity } from './campaigns/campaign.entity.js';
import { CampaignsModule } from './campaigns/campaigns.module.js';
import { CAMPAIGNS_ON_AUDIENCES } from './campaigns/campaigns.service.js';
import { ChannelSettingsController } from './channels/channel-settings.controller.js';
import { ChannelSettingsService } from './channels/channel-settings.service.js';
import { DeliverabilityModule } from './deliverability/deliverability.module.js';
import { EventsConsumer } from './consuming/events.consumer.js';
import { ContactErasure } from './erasure/contact-erasure.js';
import { SUBJECT_TABLES } from './erasure/subject-tables.js';
import { ContactProjection } from './contacts/contact-projection.js';
import { FoundationModule } from './foundation.module.js';
import { GateModule } from './gate/gate.module.js';
import { IdentityMail } from './identity-mail/identity-mail.service.js';
import { MESSAGING_CONFIG, type MessagingConfig } from './messaging.config.js';
import { MembersModule } from './members/members.module.js';
import { migrations } from './migrations/index.js';
import { ORGANIZATION_IN_MESSAGING } from './organization-references.js';
import { OrganizationStates } from './organizations/organization-states.js';
import { RETAINED_DELIVERIES } from './retention/retained-deliveries.js';
import { RETAINED_SENDS } from './retention/retained-sends.js';
import { ReturnLimits, ReturnListener } from './returned-mail/return-listener.js';
import { ReturnedMails } from './returned-mail/returned-mails.service.js';
import { Router } from './routing/router.js';
import { RoutingController } from './routing/routing.controller.js';
import { RoutingService } from './routing/routing.service.js';
import { RuleCache } from './routing/rule-cache.js';
import { RuleEntity } from './routing/rule.entity.js';
import { WaitingEvents } from './routing/waiting-events.js';
import { AcceptanceReader } from './sends/acceptance-facts.js';
import { RuleCancellation } from './sends/rule-cancellation.js';
import { SendAcceptance } from './sends/send-acceptance.service.js';
import { SenderDomainEntity } from './sender-domains/sender-domain.entity.js';
import { SenderDomainsModule } from './sender-domains/sender-domains.module.js';
import { SendsController } from './sends/sends.controller.js';
import { SENDS_TO_CONTACTS } from './sends/sends.repository.js';
import { SendsService } from './sends/sends.service.js';
import { SendsTimeline } from './sends/sends-timeline.js';
import { SuspendedSends } from './sends/suspended-sends.js';
import { SuppressionsController } from './suppressions/suppressions.controller.js';
import { TemplateEntity } from './templates/template.entity.js';
import { TemplateHistory } from './templates/template-history.service.js';
import { TemplatePreview } from './templates/template-preview.service.js';
import { TemplateTest } from './templates/template-test.service.js';
import { TemplatesController } from './templates/templates.controller.js';
import { TemplateExpansion } from './templates/template-expansion.js';
import { TemplatesService } from './templates/templates.service.js';
import { UsedTemplates } from './templates/used-templates.js';
import { UserAddresses } from './templates/user-addresses.js';
import { WebhookEndpointEntity } from './webhook-endpoints/webhook-endpoint.entity.js';
import { WebhookEndpointsModule } from './webhook-endpoints/webhook-endpoints.module.js';
import { OLD_REPORTS, UNKNOWN_REPORTS, USED_TOKENS } from './webhooks/old-reports.js';
import { ProviderReports } from './webhooks/provider-reports.service.js';
import { ReportSweep } from './webhooks/report-sweep.js';
import { UsedTokens } from './webhooks/used-tokens.js';
import { ReportsRepository } from './webhooks/reports.repository.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';
import { ProviderSignatureStrategy } from './webhooks/provider-signature.strategy.js';
import { WebhooksService } from './webhooks/webhooks.service.js';

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
