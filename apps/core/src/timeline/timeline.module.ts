import { Module } from '@nestjs/common';
import { timelineRoute } from '@customer-platform/authorization';
import { EventsModule } from '../events/events.module.js';
import { PeopleModule } from '../people/people.module.js';
import { CoreTimeline } from './core-timeline.js';

/** Core's parts of the timelines of crm. */
@Module({
  imports: [EventsModule, PeopleModule],
  providers: [CoreTimeline, timelineRoute(CoreTimeline)],
})
export class TimelineModule {}
