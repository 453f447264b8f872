import { Module } from '@nestjs/common';
import { PeopleModule } from '../people/people.module.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { LiveFeed } from './live/live-feed.js';
import { LiveStreams } from './live/live-streams.js';

/** Reads of the stored events, and what follows them as they are stored. */
@Module({
  imports: [PeopleModule],
  controllers: [EventsController],
  providers: [EventsService, LiveFeed, LiveStreams],
  exports: [EventsService],
})
export class EventsModule {}
