import { Module } from '@nestjs/common';
import { GateChecksModule } from './gate/gate-checks.module.js';
import { GateModule } from './gate/gate.module.js';
import { StoredSendsModule } from './sends/stored-sends.module.js';

/** The way from a stored send to the world. From outside a send is stored, and its decision foreseen; none hands it over. */
@Module({
  imports: [GateChecksModule, GateModule, StoredSendsModule],
  exports: [GateChecksModule, StoredSendsModule],
})
export class DispatchModule {}
