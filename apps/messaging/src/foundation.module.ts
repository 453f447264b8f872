import { Global, Module } from '@nestjs/common';
import { CoreContacts } from '@customer-platform/contact-refs';
import { AddressKeys } from './addresses/address-keys.provider.js';
import { ChannelFaults } from './channels/channel-faults.js';
import { ChannelPlans } from './channels/channel-plans.js';
import { ChannelSettingsRepository } from './channels/channel-settings.repository.js';
import { WebhookKeys } from './channels/webhook-keys.js';
import { ConsentsRepository } from './contacts/consents.repository.js';
import { ContactRefresh } from './contacts/contact-refresh.js';
import { ContactsRepository } from './contacts/contacts.repository.js';
import { Devices } from './contacts/devices.js';
import { PushTokensRepository } from './contacts/push-tokens.repository.js';
import { GateDatabase } from './gate-lock/gate-database.js';
import { GateWriter } from './gate-lock/gate-writer.js';
import { BackgroundJobs } from './jobs/background-jobs.js';
import { MakerRights } from './makers/maker-rights.js';
import { MESSAGING_CONFIG, messagingConfig } from './messaging.config.js';
import { MjmlCompiler } from './rendering/mjml-compiler.js';
import { Renderer } from './rendering/renderer.js';
import { Tenants } from './organizations/tenants.js';
import { EventWaits } from './event-waits/event-waits.repository.js';
import { ReturnPaths } from './returned-mail/return-paths.js';
import { MailSigner } from './sender-domains/mail-signer.js';
import { VerifiedSenders } from './sender-domains/verified-senders.js';
import { ProviderRegistry } from './providers/provider-registry.js';
import { DispatchSignal } from './sends/dispatch-signal.js';
import { SendJournal } from './sends/send-journal.js';
import { SendsRepository } from './sends/sends.repository.js';
import { Suppressions } from './suppressions/suppressions.service.js';
import { SuppressionsRepository } from './suppressions/suppressions.repository.js';
import { MessageRendering } from './templates/message-rendering.js';
import { TemplateVersions } from './templates/template-versions.js';
import { UnsubscribeLinks } from './unsubscribe/unsubscribe-links.js';

const shared = [
  AddressKeys,
  BackgroundJobs,
  ChannelFaults,
  ChannelPlans,
  ChannelSettingsRepository,
  ConsentsRepository,
  ContactRefresh,
  ContactsRepository,
  CoreContacts,
  Devices,
  DispatchSignal,
  EventWaits,
  GateDatabase,
  GateWriter,
  MailSigner,
  MakerRights,
  MessageRendering,
  MjmlCompiler,
  PushTokensRepository,
  Renderer,
  ReturnPaths,
  SendJournal,
  SendsRepository,
  Suppressions,
  SuppressionsRepository,
  TemplateVersions,
  Tenants,
  UnsubscribeLinks,
  VerifiedSenders,
  WebhookKeys,
];

/** What several features of messaging stand on. No transport is among it. */
@Global()
@Module({
  providers: [
    { provide: MESSAGING_CONFIG, useFactory: () => messagingConfig() },
    { provide: ProviderRegistry, useFactory: () => new ProviderRegistry() },
    ...shared,
  ],
  exports: [MESSAGING_CONFIG, ProviderRegistry, ...shared],
})
export class FoundationModule {}
