import { Module } from '@nestjs/common';
import { SegmentFollower } from './segment-follower.js';
import { SegmentIndexes } from './segment-indexes.js';
import { SegmentSignal } from './segment.signal.js';

/** What features that change contacts need for the segments to follow; it needs nothing of theirs. */
@Module({
  providers: [SegmentFollower, SegmentIndexes, SegmentSignal],
  exports: [SegmentFollower, SegmentIndexes, SegmentSignal],
})
export class FollowingModule {}
