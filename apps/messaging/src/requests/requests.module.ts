import { createHmac } from 'node:crypto';
import { Module } from '@nestjs/common';
import { timelineRoute } from '@customer-platform/authorization';
import { Clock, Database, IdempotentCalls } from '@customer-platform/database';
import { ContentModule } from '../content/content.module.js';
import { DispatchModule } from '../dispatch/dispatch.module.js';
import { PeopleModule } from '../people/people.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../vocabulary/config/messaging.config.js';
import { CampaignsModule } from './campaigns/campaigns.module.js';
import { IdentityMail } from './identity-mail/identity-mail.service.js';
import { Router } from './routing/router.js';
import { RoutingController } from './routing/routing.controller.js';
import { RoutingService } from './routing/routing.service.js';
import { RuleCache } from './routing/rule-cache.js';
import { WaitingEvents } from './routing/waiting-events.js';
import { AcceptanceReader } from './sends/acceptance-facts.js';
import { RuleCancellation } from './sends/rule-cancellation.js';
import { SendAcceptance } from './sends/send-acceptance.service.js';
import { SendsController } from './sends/sends.controller.js';
import { SendsService } from './sends/sends.service.js';
import { SendsTimeline } from './sends/sends-timeline.js';
import { SuspendedSends } from './sends/suspended-sends.js';
import { TemplatePreview } from './template-trials/template-preview.service.js';
import { TemplateTest } from './template-trials/template-test.service.js';
import { TemplateTrialsController } from './template-trials/template-trials.controller.js';
import { UserAddresses } from './template-trials/user-addresses.js';

/** Requests for messages: calls of the API, rules that answer events, campaigns, identity, and trials of templates. */
@Module({
  imports: [CampaignsModule, ContentModule, DispatchModule, PeopleModule, SettingsModule],
  controllers: [RoutingController, SendsController, TemplateTrialsController],
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
    AcceptanceReader,
    IdentityMail,
    Router,
    RoutingService,
    RuleCache,
    RuleCancellation,
    SendAcceptance,
    SendsService,
    SendsTimeline,
    timelineRoute(SendsTimeline),
    SuspendedSends,
    TemplatePreview,
    TemplateTest,
    UserAddresses,
    WaitingEvents,
  ],
  exports: [CampaignsModule, IdentityMail, Router],
})
export class RequestsModule {}
