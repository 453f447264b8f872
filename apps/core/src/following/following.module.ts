import { Module } from '@nestjs/common';
import { DeclaredAttributesReader } from './declared-attributes.reader.js';
import { SegmentFollower } from './segment-follower.js';
import { SegmentIndexes } from './segment-indexes.js';
import { SegmentSignal } from './segment.signal.js';

/**
 * Provides what features that change contacts need for the segments to follow, and to know what is declared of attributes; it needs
 * nothing of theirs.
 */
@Module({
  providers: [DeclaredAttributesReader, SegmentFollower, SegmentIndexes, SegmentSignal],
  exports: [DeclaredAttributesReader, SegmentFollower, SegmentIndexes, SegmentSignal],
})
export class FollowingModule {}
