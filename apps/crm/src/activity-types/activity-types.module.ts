import { Module } from '@nestjs/common';
import { ActivityTypesController } from './activity-types.controller.js';
import { ActivityTypesService } from './activity-types.service.js';
import { FirstTypesConsumer } from './first-types.consumer.js';

/** Types of activities, and the first ones of new organizations. */
@Module({
  controllers: [ActivityTypesController, FirstTypesConsumer],
  providers: [ActivityTypesService],
  exports: [ActivityTypesService],
})
export class ActivityTypesModule {}
