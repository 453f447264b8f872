import type { MigrationClass } from '@customer-platform/database';
import { CreatePlatformTables1763715600000 } from './1763715600000-create-platform-tables.js';
import { CreatePeople1763715601000 } from './1763715601000-create-people.js';
import { CreateChannelSettings1763715602000 } from './1763715602000-create-channel-settings.js';
import { CreateTemplates1763715603000 } from './1763715603000-create-templates.js';
import { CreateEventRouting1763715604000 } from './1763715604000-create-event-routing.js';
import { CreateSends1763715605000 } from './1763715605000-create-sends.js';
import { CreateGate1763715606000 } from './1763715606000-create-gate.js';
import { CreateReferenceHolds1764110000000 } from './1764110000000-create-reference-holds.js';
import { NoteIdentityMessages1764620001000 } from './1764620001000-note-identity-messages.js';
import { CreateNotifications1764640100000 } from './1764640100000-create-notifications.js';
import { AddAccountToSends1764640200000 } from './1764640200000-add-account-to-sends.js';
import { CreateWebhookEndpoints1764650000000 } from './1764650000000-create-webhook-endpoints.js';
import { CreateErasureReceipts1764680000000 } from './1764680000000-create-erasure-receipts.js';
import { CreateProviderReports1764690000000 } from './1764690000000-create-provider-reports.js';
import { NoteWaitingOfSends1764707000000 } from './1764707000000-note-waiting-of-sends.js';
import { AdmitIdentityMail1766790000000 } from './1766790000000-admit-identity-mail.js';
import { IndexIdentityMail1766790010000 } from './1766790010000-index-identity-mail.js';
import { SeparateIdentityMail1766800000000 } from './1766800000000-separate-identity-mail.js';
import { ForgetIdentityContent1766800010000 } from './1766800010000-forget-identity-content.js';
import { CreateNotificationReads1764650100000 } from './1764650100000-create-notification-reads.js';
import { CreateBackgroundJobs1764740000000 } from './1764740000000-create-background-jobs.js';
import { IndexBackgroundWork1764740010000 } from './1764740010000-index-background-work.js';
import { CreateEventWaits1764740100000 } from './1764740100000-create-event-waits.js';
import { CreateChannelFaults1764740200000 } from './1764740200000-create-channel-faults.js';
import { CreateConsumerPositions1766700000000 } from './1766700000000-create-consumer-positions.js';
import { NoteWebhookMakers1764900300000 } from './1764900300000-note-webhook-makers.js';
import { FindWebhookMakers1764900310000 } from './1764900310000-find-webhook-makers.js';
import { NoteProfileVersions1766900000000 } from './1766900000000-note-profile-versions.js';
import { CountEventWaitFailures1766910000000 } from './1766910000000-count-event-wait-failures.js';
import { NoteContactsOfDeliveries1766920000000 } from './1766920000000-note-contacts-of-deliveries.js';
import { IndexSendsOfUnknown1767000000000 } from './1767000000000-index-sends-of-unknown.js';
import { UnpackOutbox1767000100000 } from './1767000100000-unpack-outbox.js';
import { NoteFurtherWebhookMakers1767113100000 } from './1767113100000-note-further-webhook-makers.js';
import { CheckWebhookMakers1767113110000 } from './1767113110000-check-webhook-makers.js';
import { CreateRetention1767137200000 } from './1767137200000-create-retention.js';
import { IndexSendsWithContent1767137300000 } from './1767137300000-index-sends-with-content.js';
import { CreateDeliverability1767160000000 } from './1767160000000-create-deliverability.js';
import { CreateWebhookTokens1767240000000 } from './1767240000000-create-webhook-tokens.js';
import { PutMembersOff1767250000000 } from './1767250000000-put-members-off.js';
import { KeepPushTokens1767260000000 } from './1767260000000-keep-push-tokens.js';
import { SteadyMembers1767270000000 } from './1767270000000-steady-members.js';
import { IndexBackgroundJobs1767345000000 } from './1767345000000-index-background-jobs.js';
import { NoteTimesOfStates1768400000000 } from './1768400000000-note-times-of-states.js';
import { CreateSenderDomains1767150000000 } from './1767150000000-create-sender-domains.js';
import { CreateCampaigns1767161900000 } from './1767161900000-create-campaigns.js';
import { IndexSendsByRun1767161910000 } from './1767161910000-index-sends-by-run.js';
import { KeepWebhookTries1767220000000 } from './1767220000000-keep-webhook-tries.js';
import { IndexKeptBodies1767221000000 } from './1767221000000-index-kept-bodies.js';
import { CreateTemplateUses1767222000000 } from './1767222000000-create-template-uses.js';
import { CountIdentityMails1767404000000 } from './1767404000000-count-identity-mails.js';
import { CreateInstallation1768388000000 } from './1768388000000-create-installation.js';
import { KeepProofsOfParkedEvents1768410000000 } from './1768410000000-keep-proofs-of-parked-events.js';
import { CreateTenantTallies1767404100000 } from './1767404100000-create-tenant-tallies.js';
import { NoteMakersOfRules1768420000000 } from './1768420000000-note-makers-of-rules.js';
import { FindMakersOfRules1768420010000 } from './1768420010000-find-makers-of-rules.js';
import { NoteMakersOfChannels1768421000000 } from './1768421000000-note-makers-of-channels.js';
import { FindMakersOfChannels1768421010000 } from './1768421010000-find-makers-of-channels.js';
import { NoteMakersOfCampaigns1768422000000 } from './1768422000000-note-makers-of-campaigns.js';
import { FindMakersOfCampaigns1768422010000 } from './1768422010000-find-makers-of-campaigns.js';
import { SortNamesByLanguage1768431000000 } from './1768431000000-sort-names-by-language.js';
import { WithholdContacts1768930000000 } from './1768930000000-withhold-contacts.js';
import { ForgetNamesOfFactors1768934000000 } from './1768934000000-forget-names-of-factors.js';
import { KeepLiftedSuppressions1768942000000 } from './1768942000000-keep-lifted-suppressions.js';
import { ForgetNamesOfEndedMails1769010000000 } from './1769010000000-forget-names-of-ended-mails.js';

/** All migrations of messaging, oldest first. */
export const migrations: MigrationClass[] = [
  CreatePlatformTables1763715600000,
  CreatePeople1763715601000,
  CreateChannelSettings1763715602000,
  CreateTemplates1763715603000,
  CreateEventRouting1763715604000,
  CreateSends1763715605000,
  CreateGate1763715606000,
  CreateReferenceHolds1764110000000,
  NoteIdentityMessages1764620001000,
  CreateNotifications1764640100000,
  AddAccountToSends1764640200000,
  CreateWebhookEndpoints1764650000000,
  CreateNotificationReads1764650100000,
  CreateErasureReceipts1764680000000,
  CreateProviderReports1764690000000,
  NoteWaitingOfSends1764707000000,
  CreateBackgroundJobs1764740000000,
  IndexBackgroundWork1764740010000,
  CreateEventWaits1764740100000,
  CreateChannelFaults1764740200000,
  NoteWebhookMakers1764900300000,
  FindWebhookMakers1764900310000,
  CreateConsumerPositions1766700000000,
  AdmitIdentityMail1766790000000,
  IndexIdentityMail1766790010000,
  SeparateIdentityMail1766800000000,
  ForgetIdentityContent1766800010000,
  NoteProfileVersions1766900000000,
  CountEventWaitFailures1766910000000,
  NoteContactsOfDeliveries1766920000000,
  IndexSendsOfUnknown1767000000000,
  UnpackOutbox1767000100000,
  NoteFurtherWebhookMakers1767113100000,
  CheckWebhookMakers1767113110000,
  CreateRetention1767137200000,
  IndexSendsWithContent1767137300000,
  CreateSenderDomains1767150000000,
  CreateDeliverability1767160000000,
  CreateCampaigns1767161900000,
  IndexSendsByRun1767161910000,
  KeepWebhookTries1767220000000,
  IndexKeptBodies1767221000000,
  CreateTemplateUses1767222000000,
  CreateWebhookTokens1767240000000,
  PutMembersOff1767250000000,
  KeepPushTokens1767260000000,
  SteadyMembers1767270000000,
  IndexBackgroundJobs1767345000000,
  CountIdentityMails1767404000000,
  CreateTenantTallies1767404100000,
  CreateInstallation1768388000000,
  NoteTimesOfStates1768400000000,
  KeepProofsOfParkedEvents1768410000000,
  NoteMakersOfRules1768420000000,
  FindMakersOfRules1768420010000,
  NoteMakersOfChannels1768421000000,
  FindMakersOfChannels1768421010000,
  NoteMakersOfCampaigns1768422000000,
  FindMakersOfCampaigns1768422010000,
  SortNamesByLanguage1768431000000,
  WithholdContacts1768930000000,
  ForgetNamesOfFactors1768934000000,
  KeepLiftedSuppressions1768942000000,
  ForgetNamesOfEndedMails1769010000000,
];
