import { Module } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { MEMBER_AUTHENTICATOR } from '@customer-platform/http';
import { OLD_NOTIFICATIONS } from '../notifications/notification-life.js';
import { NotificationReads } from '../notifications/notification-reads.js';
import { NotificationsController } from '../notifications/notifications.controller.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import { PreferenceJournal } from '../preferences/preference-journal.js';
import { PreferencesController } from '../preferences/preferences.controller.js';
import { PreferencesService } from '../preferences/preferences.service.js';
import { UnsubscribeController } from '../unsubscribe/unsubscribe.controller.js';
import { UnsubscribeService } from '../unsubscribe/unsubscribe.service.js';
import { CoreMemberAuthenticator } from './member-authenticator.js';

/** What people decide and find for themselves: by the link of a mail, or with a token of their own. */
@Module({
  controllers: [NotificationsController, PreferencesController, UnsubscribeController],
  providers: [
    CoreMemberAuthenticator,
    NotificationReads,
    NotificationsService,
    PreferenceJournal,
    PreferencesService,
    UnsubscribeService,
    retentionOf(OLD_NOTIFICATIONS),
    { provide: MEMBER_AUTHENTICATOR, useExisting: CoreMemberAuthenticator },
  ],
})
export class MembersModule {}
