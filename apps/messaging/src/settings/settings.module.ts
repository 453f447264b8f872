import { Module } from '@nestjs/common';
import { ChannelsModule } from './channels/channels.module.js';
import { SenderDomainsModule } from './sender-domains/sender-domains.module.js';

/** Settings of an organization for what it sends: its channels and its sender domains. */
@Module({
  imports: [ChannelsModule, SenderDomainsModule],
  exports: [ChannelsModule, SenderDomainsModule],
})
export class SettingsModule {}
