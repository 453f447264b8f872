import { Module } from '@nestjs/common';
import { ActivityTypesModule } from '../activity-types/activity-types.module.js';
import { ContactRefsModule } from '../contact-refs/contact-refs.module.js';
import { ActivitiesController } from './activities.controller.js';
import { ActivitiesService } from './activities.service.js';
import { Assignees } from './assignees.js';

/** Activities with contacts. */
@Module({
  imports: [ActivityTypesModule, ContactRefsModule],
  controllers: [ActivitiesController],
  providers: [ActivitiesService, Assignees],
})
export class ActivitiesModule {}
