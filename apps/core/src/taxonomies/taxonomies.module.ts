import { Module } from '@nestjs/common';
import { PreviewSlots } from '../previews/preview-slots.js';
import { StoredEvents } from './dry-run/stored-events.js';
import { EnforcingModule } from './enforcing/enforcing.module.js';
import { TaxonomiesController } from './taxonomies.controller.js';
import { TaxonomiesService } from './taxonomies.service.js';

/** Event taxonomies: what events are called and what they carry, and how strictly that is held. */
@Module({
  imports: [EnforcingModule],
  controllers: [TaxonomiesController],
  providers: [PreviewSlots, StoredEvents, TaxonomiesService],
  exports: [EnforcingModule],
})
export class TaxonomiesModule {}
