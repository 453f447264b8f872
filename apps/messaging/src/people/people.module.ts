import { Module } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { SettingsModule } from '../settings/settings.module.js';
import { ConsentsRepository } from './contacts/consents.repository.js';
import { ContactProjection } from './contacts/contact-projection.js';
import { ContactRefresh } from './contacts/contact-refresh.js';
import { ContactsRepository } from './contacts/contacts.repository.js';
import { Devices } from './contacts/devices.js';
import { PushTokensRepository } from './contacts/push-tokens.repository.js';
import { EventWaits } from './event-waits/event-waits.repository.js';
import { GateDatabase } from './gate-lock/gate-database.js';
import { GateWriter } from './gate-lock/gate-writer.js';
import { MemberTokenStrategy } from './members/member-token.strategy.js';
import { OLD_NOTIFICATIONS } from './notifications/notification-life.js';
import { NotificationReads } from './notifications/notification-reads.js';
import { NotificationsController } from './notifications/notifications.controller.js';
import { NotificationsService } from './notifications/notifications.service.js';
import { ContactPreferencesController } from './preferences/contact-preferences.controller.js';
import { ContactPreferencesService } from './preferences/contact-preferences.service.js';
import { PreferenceJournal } from './preferences/preference-journal.js';
import { PreferencesController } from './preferences/preferences.controller.js';
import { PreferencesService } from './preferences/preferences.service.js';
import { PepperCheck } from './suppressions/pepper-check.js';
import { SuppressionsController } from './suppressions/suppressions.controller.js';
import { SuppressionsRepository } from './suppressions/suppressions.repository.js';
import { Suppressions } from './suppressions/suppressions.service.js';
import { SignedLinkStrategy } from './unsubscribe/signed-link.strategy.js';
import { UnsubscribeController } from './unsubscribe/unsubscribe.controller.js';
import { UnsubscribeLinks } from './unsubscribe/unsubscribe-links.js';
import { UnsubscribeService } from './unsubscribe/unsubscribe.service.js';

/**
 * People whom messages go to, and what stands against it: contacts with their addresses, suppressions, and what people decide
 * and find for themselves, by the link of a mail, with a token of their own, or through staff.
 */
@Module({
  imports: [SettingsModule],
  controllers: [
    ContactPreferencesController,
    NotificationsController,
    PreferencesController,
    SuppressionsController,
    UnsubscribeController,
  ],
  providers: [
    ConsentsRepository,
    ContactPreferencesService,
    ContactProjection,
    ContactRefresh,
    ContactsRepository,
    Devices,
    EventWaits,
    GateDatabase,
    GateWriter,
    MemberTokenStrategy,
    NotificationReads,
    NotificationsService,
    PepperCheck,
    PreferenceJournal,
    PreferencesService,
    PushTokensRepository,
    SignedLinkStrategy,
    Suppressions,
    SuppressionsRepository,
    UnsubscribeLinks,
    UnsubscribeService,
    retentionOf(OLD_NOTIFICATIONS),
  ],
  exports: [
    ConsentsRepository,
    ContactProjection,
    ContactRefresh,
    ContactsRepository,
    Devices,
    EventWaits,
    GateWriter,
    PushTokensRepository,
    Suppressions,
    SuppressionsRepository,
    UnsubscribeLinks,
  ],
})
export class PeopleModule {}
