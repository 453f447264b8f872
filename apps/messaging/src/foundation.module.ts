import { Global, Module } from '@nestjs/common';
import { CoreContacts } from '@customer-platform/contact-refs';
import { AddressKeys } from './vocabulary/addresses/address-keys.provider.js';
import { ChannelFaults } from './settings/channels/channel-faults.js';
import { ChannelPlans } from './settings/channels/channel-plans.js';
import { ChannelSettingsRepository } from './settings/channels/channel-settings.repository.js';
import { WebhookKeys } from './settings/channels/webhook-keys.js';
import { ConsentsRepository } from './people/contacts/consents.repository.js';
import { ContactRefresh } from './people/contacts/contact-refresh.js';
import { ContactsRepository } from './people/contacts/contacts.repository.js';
import { Devices } from './people/contacts/devices.js';
import { PushTokensRepository } from './people/contacts/push-tokens.repository.js';
import { GateDatabase } from './people/gate-lock/gate-database.js';
import { GateWriter } from './people/gate-lock/gate-writer.js';
import { BackgroundJobs } from './background/jobs/background-jobs.js';
import { MakerRights } from './background/makers/maker-rights.js';
import { MESSAGING_CONFIG, messagingConfig } from './vocabulary/config/messaging.config.js';
import { MjmlCompiler } from './content/rendering/mjml-compiler.js';
import { Renderer } from './content/rendering/renderer.js';
import { Tenants } from './background/organizations/tenants.js';
import { EventWaits } from './people/event-waits/event-waits.repository.js';
import { ReturnPaths } from './settings/sender-domains/return-paths.js';
import { MailSigner } from './settings/sender-domains/mail-signer.js';
import { VerifiedSenders } from './settings/sender-domains/verified-senders.js';
import { ProviderRegistry } from './providers/provider-registry.js';
import { DispatchSignal } from './dispatch/sends/dispatch-signal.js';
import { SendJournal } from './dispatch/sends/send-journal.js';
import { SendsRepository } from './dispatch/sends/sends.repository.js';
import { Suppressions } from './people/suppressions/suppressions.service.js';
import { SuppressionsRepository } from './people/suppressions/suppressions.repository.js';
import { MessageRendering } from './content/templates/message-rendering.js';
import { TemplateVersions } from './content/templates/template-versions.js';
import { UnsubscribeLinks } from './people/unsubscribe/unsubscribe-links.js';

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
