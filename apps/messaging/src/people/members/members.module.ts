import { Module } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { OLD_NOTIFICATIONS } from '../notifications/notification-life.js';
import { NotificationReads } from '../notifications/notification-reads.js';
import { NotificationsController } from '../notifications/notifications.controller.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import { ContactPreferencesController } from '../preferences/contact-preferences.controller.js';
import { ContactPreferencesService } from '../preferences/contact-preferences.service.js';
import { PreferenceJournal } from '../preferences/preference-journal.js';
import { PreferencesController } from '../preferences/preferences.controller.js';
import { PreferencesService } from '../preferences/preferences.service.js';
import { UnsubscribeController } from '../unsubscribe/unsubscribe.controller.js';
import { UnsubscribeService } from '../unsubscribe/unsubscribe.service.js';
import { SignedLinkStrategy } from '../unsubscribe/signed-link.strategy.js';
import { MemberTokenStrategy } from './member-token.strategy.js';

/** Serves what people decide and find for themselves: by the link of a mail, with a token of their own, or through staff. */
@Module({
  controllers: [
    ContactPreferencesController,
    NotificationsController,
    PreferencesController,
    UnsubscribeController,
  ],
  providers: [
    ContactPreferencesService,
    MemberTokenStrategy,
    NotificationReads,
    NotificationsService,
    PreferenceJournal,
    PreferencesService,
    SignedLinkStrategy,
    UnsubscribeService,
    retentionOf(OLD_NOTIFICATIONS),
  ],
})
export class MembersModule {}
