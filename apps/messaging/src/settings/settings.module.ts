import { Module } from '@nestjs/common';
import { ChannelsModule } from './channels/channels.module.js';
import { SenderDomainsModule } from './sender-domains/sender-domains.module.js';

/** What an organization says of how it sends: its channels and its sender domains. */
@Module({
  imports: [ChannelsModule, SenderDomainsModule],
  exports: [ChannelsModule, SenderDomainsModule],
})
export class SettingsModule {}
