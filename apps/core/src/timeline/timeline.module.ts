import { Module } from '@nestjs/common';
import { timelineRoute } from '@customer-platform/authorization';
import { ConsentsModule } from '../people/consents/consents.module.js';
import { ContactsModule } from '../people/contacts/contacts.module.js';
import { EventsModule } from '../events/events.module.js';
import { CoreTimeline } from './core-timeline.js';

/** Core's parts of the timelines of crm. */
@Module({
  imports: [ConsentsModule, ContactsModule, EventsModule],
  providers: [CoreTimeline, timelineRoute(CoreTimeline)],
})
export class TimelineModule {}
