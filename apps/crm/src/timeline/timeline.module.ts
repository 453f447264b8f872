import { Module } from '@nestjs/common';
import { ContactRefsModule } from '../contact-refs/contact-refs.module.js';
import { SourceClient } from './source.client.js';
import { TimelineController } from './timeline.controller.js';
import { TimelineService } from './timeline.service.js';

/** A contact's timeline, composed of what the other modules hold. */
@Module({
  imports: [ContactRefsModule],
  controllers: [TimelineController],
  providers: [SourceClient, TimelineService],
})
export class TimelineModule {}
