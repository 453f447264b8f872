import { Module } from '@nestjs/common';
import { DatabaseModule } from '@customer-platform/database';
import { migrations } from '../migrations/index.js';
import { SumsRebuild } from './sums-rebuild.js';

/** What the command that rebuilds balances needs: nothing that listens or consumes. */
@Module({
  imports: [DatabaseModule.forRoot({ module: 'loyalty', entities: [], migrations })],
  providers: [SumsRebuild],
})
export class SumsRebuildModule {}
