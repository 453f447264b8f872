import { Module } from '@nestjs/common';
import { FollowingModule } from '../following/following.module.js';
import { PreviewSlots } from '../previews/preview-slots.js';
import { SegmentsModule } from '../segments/segments.module.js';
import { AttributeDefinitionsController } from './attribute-definitions.controller.js';
import { AttributeDefinitionsService } from './attribute-definitions.service.js';
import { ConversionEnd } from './conversion/conversion-end.js';
import { ConversionForecast } from './conversion/conversion-forecast.js';
import { ConversionRunner } from './conversion/conversion-runner.js';
import { ConversionSignal } from './conversion/conversion.signal.js';
import { Conversions } from './conversion/conversions.js';
import { ConvertingPiece } from './conversion/converting-piece.js';

/** The definitions of attributes, and the conversion of what contacts have. */
@Module({
  imports: [FollowingModule, SegmentsModule],
  controllers: [AttributeDefinitionsController],
  providers: [
    AttributeDefinitionsService,
    ConversionEnd,
    ConversionForecast,
    ConversionRunner,
    Conversions,
    ConversionSignal,
    ConvertingPiece,
    PreviewSlots,
  ],
})
export class AttributesModule {}
