import { AudienceModule } from '@customer-platform/database';
import { Module } from '@nestjs/common';
import { DeadLettersModule } from '../dead-letters/dead-letters.module.js';
import { PeopleModule } from '../people/people.module.js';
import { SEGMENT_AUDIENCE } from './audience/segment-audience.js';
import { AttributeHolds } from './building/attribute-holds.js';
import { SegmentBuilder } from './building/segment-builder.js';
import { ContactSegmentsController } from './contact-segments.controller.js';
import { ContactSegmentsService } from './contact-segments.service.js';
import { Evaluation } from './evaluating/evaluation.js';
import { EvaluatorShares } from './evaluating/evaluator-shares.js';
import { FailedEvaluations } from './evaluating/failed-evaluations.js';
import { SegmentEvaluator } from './evaluating/segment.evaluator.js';
import { SegmentExplainer } from './explaining/segment-explainer.js';
import { FollowingModule } from '../following/following.module.js';
import { PreviewSlots } from '../previews/preview-slots.js';
import { PreviewRandom, RulePreview } from './previewing/rule-preview.service.js';
import { SegmentsController } from './segments.controller.js';
import { SegmentsService } from './segments.service.js';

/** Contacts grouped by rules, followed through all that changes them. */
@Module({
  imports: [AudienceModule.forRoot(SEGMENT_AUDIENCE), DeadLettersModule, FollowingModule, PeopleModule],
  controllers: [ContactSegmentsController, SegmentsController],
  providers: [
    AttributeHolds,
    ContactSegmentsService,
    Evaluation,
    EvaluatorShares,
    FailedEvaluations,
    PreviewRandom,
    PreviewSlots,
    RulePreview,
    SegmentBuilder,
    SegmentEvaluator,
    SegmentExplainer,
    SegmentsService,
  ],
  exports: [AttributeHolds],
})
export class SegmentsModule {}
