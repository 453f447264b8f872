import { Module } from '@nestjs/common';
import { SenderDomainsModule } from '../sender-domains/sender-domains.module.js';
import { ChannelFaults } from './channel-faults.js';
import { ChannelPlans } from './channel-plans.js';
import { ChannelSettingsController } from './channel-settings.controller.js';
import { ChannelSettingsRepository } from './channel-settings.repository.js';
import { ChannelSettingsService } from './channel-settings.service.js';
import { WebhookKeys } from './webhook-keys.js';

/** Channels: by which provider each sends, from whom, and what its provider's calls are known by. */
@Module({
  imports: [SenderDomainsModule],
  controllers: [ChannelSettingsController],
  providers: [ChannelFaults, ChannelPlans, ChannelSettingsRepository, ChannelSettingsService, WebhookKeys],
  exports: [ChannelFaults, ChannelPlans, WebhookKeys],
})
export class ChannelsModule {}
