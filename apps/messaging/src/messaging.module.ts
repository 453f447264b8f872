import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import {
  DatabaseModule,
  organizationRetention,
  ReferencesModule,
  SubjectRowsModule,
} from '@customer-platform/database';
import { ErasureModule } from '@customer-platform/erasure';
import { EventBusModule } from '@customer-platform/event-bus';
import { OrganizationStates } from './background/organizations/organization-states.js';
import { ContactErasure } from './contact-erasure.js';
import { ContentModule } from './content/content.module.js';
import { TemplateEntity } from './content/templates/template.entity.js';
import { DispatchModule } from './dispatch/dispatch.module.js';
import { RETAINED_SENDS } from './dispatch/sends/retained-sends.js';
import { SENDS_TO_CONTACTS } from './dispatch/sends/sends.repository.js';
import { EventsConsumer } from './events.consumer.js';
import { FoundationModule } from './foundation.module.js';
import { migrations } from './migrations/index.js';
import { ORGANIZATION_IN_MESSAGING } from './organization-references.js';
import { PeopleModule } from './people/people.module.js';
import { ReportsModule } from './reports/reports.module.js';
import { CampaignEntity } from './requests/campaigns/campaign.entity.js';
import { CAMPAIGNS_ON_AUDIENCES } from './requests/campaigns/campaigns.service.js';
import { RequestsModule } from './requests/requests.module.js';
import { RuleEntity } from './requests/routing/rule.entity.js';
import { SenderDomainEntity } from './settings/sender-domains/sender-domain.entity.js';
import { SettingsModule } from './settings/settings.module.js';
import { SUBJECT_TABLES } from './subject-tables.js';
import { RETAINED_DELIVERIES } from './webhook-endpoints/deliveries/retained-deliveries.js';
import { WebhookEndpointEntity } from './webhook-endpoints/webhook-endpoint.entity.js';
import { WebhookEndpointsModule } from './webhook-endpoints/webhook-endpoints.module.js';

/** Messaging: who asks for a message, the one gate that all of them pass, and what becomes of them. */
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
    FoundationModule,
    RequestsModule,
    ReportsModule,
    WebhookEndpointsModule,
    DispatchModule,
    ContentModule,
    PeopleModule,
    SettingsModule,
  ],
  controllers: [EventsConsumer],
  providers: [ContactErasure, OrganizationStates, organizationRetention(RETAINED_SENDS, RETAINED_DELIVERIES)],
})
export class MessagingModule {}
