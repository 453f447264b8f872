import { Module } from '@nestjs/common';
import { ContentModule } from '../../content/content.module.js';
import { PeopleModule } from '../../people/people.module.js';
import { SettingsModule } from '../../settings/settings.module.js';
import { BatchReader } from './batch-facts.js';
import { CarriedRights } from './carried-rights.js';
import { GateForecast } from './gate-forecast.js';
import { Recipients } from './recipients.js';

/**
 * What the gate decides by. It changes nothing and meets no transport: who asks what would become of a message gets the
 * gate's own answer, and none leaves.
 */
@Module({
  imports: [ContentModule, PeopleModule, SettingsModule],
  providers: [BatchReader, CarriedRights, GateForecast, Recipients],
  exports: [BatchReader, CarriedRights, GateForecast, Recipients],
})
export class GateChecksModule {}
