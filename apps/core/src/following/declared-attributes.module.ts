import { Module } from '@nestjs/common';
import { FollowingModule } from './following.module.js';
import { DeclaredAttributesReader } from './declared-attributes.reader.js';

/** What features that write attributes need to know of their definitions; it needs nothing of theirs. */
@Module({
  imports: [FollowingModule],
  providers: [DeclaredAttributesReader],
  exports: [DeclaredAttributesReader],
})
export class DeclaredAttributesModule {}
